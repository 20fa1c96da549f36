// Tests of reports in a real browser, opened from their files.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, go, open, wrong } from './browser.mjs';
import { HOSTILE, ofJMeter, ofLabels, ofManyLabels, ofRun, ofUnknownErrors } from './pages.mjs';

const ROUTES = ['overview', 'time', 'labels', 'labels/0', 'errors', 'samples', 'generator', 'connections', 'plan', 'findings'];

let chromium;
let run;
let rows;
before(async () => {
  chromium = await browser();
  run = pathToFileURL(await ofRun()).href;
  rows = pathToFileURL(ofLabels(60, 20_000)).href;
});
after(() => chromium?.close());

describe('a report', () => {
  test('opens from its file, asks nobody, and makes no error on any page', async () => {
    for (const address of [run, rows]) {
      const { page, noted, close } = await open(chromium, address);
      await page.waitForSelector('#nav a');
      const routes = await page.$$eval('#nav a', (links) => links.map((link) => link.getAttribute('href').slice(1)));
      assert.ok(routes.length >= 5, `${routes}`);
      for (const route of [...routes, 'labels/0']) {
        await go(page, route);
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
        await page.waitForTimeout(50);
      }
      assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
      await close();
    }
  });

  test('stands without script', async () => {
    const { page, close } = await open(chromium, run, { javaScriptEnabled: false });
    const text = await page.locator('#first').innerText();
    for (const part of [/verdict/i, /Requests/, /p95/, /Load and rate/, /Labels with the most time/]) assert.match(text, part);
    assert.equal(await page.locator('#first svg').count(), 3);
    assert.ok(!/结论/.test(text), 'one language at a time');
    await page.locator('#zh').check();
    assert.match(await page.locator('#first').innerText(), /结论/);
    await close();
  });

  for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 390, height: 800 } } })) {
    test(`is accessible and fits its window: ${name}`, async () => {
      const { page, noted, close } = await open(chromium, run, options);
      await page.waitForSelector('#nav a');
      for (const route of ROUTES) {
        await go(page, route);
        await page.waitForTimeout(100);
        assert.deepEqual(await wrong(page), [], `${name} ${route}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${route} is ${wide} px too wide`);
      }
      assert.deepEqual(noted.errors, []);
      await close();
    });
  }

  test('speaks Chinese when told so', async () => {
    const { page, close } = await open(chromium, run);
    await page.waitForSelector('#nav a');
    await page.locator('#zh').check();
    assert.match(await page.locator('#nav').innerText(), /时间曲线/);
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN');
    await go(page, 'time');
    assert.match(await page.locator('#pages').innerText(), /负载与速率/);
    assert.deepEqual(await wrong(page), []);
    await close();
  });

  test('works from the keyboard', async () => {
    const { page, close } = await open(chromium, run);
    await page.waitForSelector('#nav a');
    await go(page, 'time');
    const chart = page.locator('#pages figure.chart .canvas').first();
    await chart.waitFor();
    await chart.focus();
    const said = page.locator('#pages figure.chart [aria-live]').first();
    await page.keyboard.press('Home');
    const first = await said.textContent();
    assert.match(first, /00:00.*Rate/);
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await said.textContent(), first);
    const button = page.locator('#pages figure.chart').first().getByRole('button', { name: 'Show as table' });
    await button.focus();
    await page.keyboard.press('Enter');
    assert.ok((await page.locator('#pages figure.chart').first().locator('tbody tr').count()) > 5);
    await go(page, 'labels');
    const sort = page.getByRole('button', { name: 'Samples', exact: true });
    await sort.focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('#pages th[aria-sort=descending]').innerText().then((text) => text.includes('Samples')), true);
    await close();
  });

  test('prints', async () => {
    const { page, close } = await open(chromium, run);
    await page.waitForSelector('#nav a');
    for (const route of ['overview', 'time']) {
      await go(page, route);
      const pdf = await page.pdf({ format: 'A4' });
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
      assert.ok(pdf.length > 20_000, `${route}: ${pdf.length} bytes`);
    }
    await close();
  });

  test('shows what is hostile as text', async () => {
    const { page, noted, close } = await open(chromium, rows);
    await page.waitForSelector('#nav a');
    await go(page, 'labels');
    await page.locator('input[type=search]').fill('alert(1)');
    assert.equal(await page.locator('#pages tbody th').first().innerText(), HOSTILE);
    await page.locator('#pages tbody a').first().click();
    assert.equal(await page.locator('#pages h2').first().innerText(), HOSTILE);
    await go(page, 'errors');
    assert.match(await page.locator('#pages').innerText(), /<b>Broken<\/b>, again/);
    assert.equal(await page.locator('#pages img').count(), 0);
    assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
    await close();
  });

  test("shows JMeter's figures, with all digits of statistics.json behind them", async () => {
    const made = ofJMeter();
    const address = pathToFileURL(made.page).href;
    for (const options of [{}, { viewport: { width: 390, height: 800 }, colorScheme: 'dark' }]) {
      const { page, noted, close } = await open(chromium, address, options);
      await page.waitForSelector('#nav a');
      await go(page, 'jmeter');
      assert.deepEqual(await wrong(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${wide} px too wide`);
      const table = page.locator('#pages table').first();
      assert.equal(await table.locator('tbody th').nth(1).innerText(), HOSTILE);
      for (const [row, name] of [[0, 'Total'], [1, HOSTILE]]) {
        const { meanResTime, throughput } = made.statistics[name];
        for (const [cell, value] of [[3, meanResTime], [10, throughput]]) {
          const shown = table.locator('tbody tr').nth(row).locator('td').nth(cell);
          assert.equal(await shown.innerText(), value.toFixed(2));
          assert.equal(await shown.locator('span').getAttribute('title'), String(value));
        }
      }
      assert.match(await page.locator('#pages').innerText(), /503\/<b>Broken<\/b>, again/);
      assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
      await close();
    }
  });

  test('a day with 25 000 labels opens and is turned over without a browser that stands still', { timeout: 180_000 }, async (report) => {
    const path = await ofManyLabels();
    const { page, noted, close } = await open(chromium, 'about:blank');
    await page.addInitScript(() => {
      globalThis.longest = 0;
      new PerformanceObserver((seen) => { for (const task of seen.getEntries()) globalThis.longest = Math.max(globalThis.longest, task.duration); }).observe({ type: 'longtask', buffered: true });
    });
    await page.goto(pathToFileURL(path).href);
    await page.waitForSelector('#nav a', { timeout: 20_000 });
    for (const route of ['labels', 'errors', 'time']) await go(page, route);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await go(page, 'labels');
    assert.ok((await page.locator('#pages tbody tr').count()) <= 201);
    const longest = await page.evaluate(() => new Promise((done) => { setTimeout(() => done(globalThis.longest), 100); }));
    report.diagnostic(`${statSync(path).size} bytes; the longest task took ${Math.round(longest)} ms`);
    // On a quiet machine, one second would be noticeable. The limit allows for a machine with other load.
    assert.ok(longest < 5000, `${longest} ms`);
    assert.ok(statSync(path).size < 3_000_000);
    assert.deepEqual(noted.errors, []);
    await close();
  });
});

test('errors that are not known are unknown, and none of them is 0 %', async () => {
  const { page, noted, close } = await open(chromium, pathToFileURL(ofUnknownErrors()).href);
  await page.waitForSelector('#nav a');
  const first = await page.locator('#first').innerText();
  assert.match(first, /unknown: no column success/);
  assert.doesNotMatch(first, /\b0 %/);
  await go(page, 'labels');
  const rows = await page.locator('#pages tbody tr').allInnerTexts();
  assert.equal(rows.length, 3);
  for (const row of rows) assert.match(row, /unknown/);
  await go(page, 'labels/0');
  assert.match(await page.locator('#pages dl').first().innerText(), /Failed\s+unknown/i);
  await go(page, 'errors');
  assert.match(await page.locator('#pages').innerText(), /Unknown: the result file has no column success/);
  assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
  await close();
});
