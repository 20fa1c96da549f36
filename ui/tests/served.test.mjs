// Tests of the pages that the real program serves: the live page of a run, which becomes its report.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { browser, open } from './browser.mjs';
import { runs, shot, until } from './served.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium?.close());

/** Checks that axe finds no violations. It runs outside of the page's policy. */
async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] }));
  assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`), []);
}

const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test('the live page of a run shows it, changes it, and becomes its report', { timeout: 120_000 }, async (t) => {
  const run = await runs(t, { seconds: 600, users: 6 });
  const wide = await open(chromium, run.full);
  const narrow = await open(chromium, run.read, { viewport: { width: 390, height: 844 } });
  const dark = await open(chromium, run.read, { colorScheme: 'dark' });
  const { page } = wide;
  await until(async () => (await page.locator('figure.chart canvas').count()) === 4);
  await until(async () => /[1-9]\d*\/s/.test(await page.locator('dl.now').innerText()));
  assert.equal(await page.evaluate(() => location.hash), '');
  assert.equal(await narrow.page.locator('.controls').count(), 0, 'it only reads');
  // The charts of a screenshot need some seconds of data.
  await until(async () => Number(await page.locator('.remaining progress').getAttribute('value')) > 14_000);
  await page.getByRole('spinbutton').fill('12');
  await page.getByRole('button', { name: 'Set', exact: true }).first().click();
  await until(async () => /users: 12 instead of 6/.test(await page.locator('.controls').innerText()));
  await until(async () => /^12$/m.test(await page.locator('dl.now').innerText()));
  await page.getByRole('textbox').fill('cache cleared');
  await page.getByRole('button', { name: 'Mark', exact: true }).click();
  await until(async () => /marked: cache cleared/.test(await page.locator('.controls').innerText()));
  await until(async () => /GET\s.*\/s.*100 %/s.test(await page.locator('.labels tbody').innerText()));
  await shot(page, 'live-1280');
  await shot(narrow.page, 'live-390');
  await shot(dark.page, 'live-dark');
  for (const one of [wide, narrow, dark]) {
    assert.ok(await overflows(one.page) <= 0, 'nothing is wider than the window');
    await accessible(one.page);
  }
  await page.locator('label:has(#zh)').click();
  await until(async () => /用户/.test(await page.locator('dl.now').innerText()));
  await shot(page, 'live-zh');

  await page.getByRole('button', { name: '停止', exact: true }).click();
  await page.waitForURL('**/report/**');
  await narrow.page.waitForURL('**/report/**');
  await until(async () => (await page.locator('#first').count()) === 1);
  await until(async () => (await page.locator('nav#nav a').count()) > 3);
  assert.equal(await page.evaluate(() => { try { return sessionStorage.length; } catch (error) { return error.name; } }), 'SecurityError', 'the report knows no token');
  const ended = await run.ended;
  assert.equal(ended, 130);
  for (const one of [wide, narrow, dark]) {
    assert.deepEqual([one.noted.errors, one.noted.dialogs], [[], []]);
    assert.deepEqual(one.noted.requests.filter((url) => !url.startsWith(run.origin)), []);
    await one.close();
  }
});
