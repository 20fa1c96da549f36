// Tests of the pages of a sweep, a search for capacity and a comparison, created by the program, in a real browser.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, go, open, wrong } from './browser.mjs';
import { HOSTILE, ofAnswers, ofComparison } from './pages.mjs';

const KINDS = {
  sweep: { routes: ['overview', 'plan', 'findings'], en: /Rate by load/, zh: /各负载下的速率/, pictures: 2 },
  capacity: { routes: ['overview', 'plan', 'findings'], en: /Probes in order/, zh: /按顺序的试探/, pictures: 2 },
  comparison: { routes: ['overview', 'change', 'a', 'b'], en: /Changes from A to B/, zh: /从 A 到 B 的变化/, pictures: 6 },
};

let chromium;
const addresses = {};
before(async () => {
  chromium = await browser();
  const files = { ...(await ofAnswers()), comparison: ofComparison() };
  for (const [kind, file] of Object.entries(files)) addresses[kind] = pathToFileURL(file).href;
});
after(() => chromium?.close());

for (const [kind, of] of Object.entries(KINDS)) {
  describe(`a ${kind}`, () => {
    test('stands without script, in both languages', async () => {
      const { page, close } = await open(chromium, addresses[kind], { javaScriptEnabled: false });
      assert.match(await page.locator('#first').innerText(), of.en);
      assert.equal(await page.locator('#first figure.chart svg').count(), of.pictures);
      await page.locator('#zh').check();
      const text = await page.locator('#first').innerText();
      assert.match(text, of.zh);
      assert.ok(!of.en.test(text), 'one language at a time');
      await close();
    });

    for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 390, height: 800 } } })) {
      test(`asks nobody, is accessible and fits its window: ${name}`, async () => {
        const { page, noted, close } = await open(chromium, addresses[kind], options);
        await page.waitForSelector('#nav a');
        const routes = await page.$$eval('#nav a', (links) => links.map((link) => link.getAttribute('href').slice(1)));
        assert.deepEqual(routes, of.routes);
        for (const route of routes) {
          await go(page, route);
          assert.deepEqual(await wrong(page), [], `${name} ${route}`);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(wide <= 0, `${route} is ${wide} px too wide`);
          assert.equal(await page.locator('img').count(), 0);
        }
        assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
        await close();
      });
    }

    test('speaks Chinese on its pages, and prints', async () => {
      const { page, close } = await open(chromium, addresses[kind]);
      await page.waitForSelector('#nav a');
      await page.locator('#zh').check();
      for (const route of of.routes) {
        await go(page, route);
        assert.match(await page.locator('main').innerText(), /[\u4e00-\u9fff]/);
      }
      await go(page, 'overview');
      const pdf = await page.pdf({ format: 'A4' });
      assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
      await close();
    });
  });
}

test('labels of a comparison are text', async () => {
  const { page, noted, close } = await open(chromium, addresses.comparison);
  await page.waitForSelector('#nav a');
  await go(page, 'change');
  await page.locator('input[type=search]').fill('alert(1)');
  assert.equal(await page.locator('#pages tbody th').first().innerText(), HOSTILE);
  assert.deepEqual(noted.dialogs, []);
  await close();
});

test('a search for capacity draws the judged time over the load, with its limit as a line', async () => {
  const { page, close } = await open(chromium, addresses.capacity);
  await page.waitForSelector('#nav a');
  const figure = page.locator('#first figure.chart', { hasText: 'Response p95 by load' });
  assert.equal(await figure.locator('svg line.limit').count(), 1);
  assert.match(await figure.innerText(), /limit 60 ms/);
  const inside = await figure.locator('svg').evaluate((of) => Number(of.querySelector('line.limit').getAttribute('y1')) > 0 && Number(of.querySelector('line.limit').getAttribute('y1')) < 190);
  assert.ok(inside, 'the line of the limit is in the picture');
  await close();
});

/** Returns the texts of a column of a table on the first screen, without its small print. */
const column = (page, name, n) => page.$$eval(`#first .scroll[aria-label="${name}"] tbody tr`, (rows, at) => rows.map((row) => row.cells[at].innerText.split('\n')[0]), n);

test('tables of the first screen are sorted by numbers, in both languages', async () => {
  const { page, close } = await open(chromium, addresses.sweep);
  await page.waitForSelector('#nav a');
  const loads = async () => (await column(page, 'Points', 0)).map((text) => parseInt(text, 10));
  assert.deepEqual(await loads(), [1, 2, 4, 8]);
  const head = page.locator('#first .scroll[aria-label="Points"] thead th').first();
  await head.getByRole('button').click();
  assert.deepEqual(await loads(), [8, 4, 2, 1]);
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  await page.locator('#zh').check();
  await head.getByRole('button', { name: '用户' }).click();
  assert.deepEqual(await loads(), [1, 2, 4, 8]);
  await close();
});

test('a comparison sorts numbers of different units, and pictures stay without a button', async () => {
  const { page, close } = await open(chromium, addresses.comparison);
  await page.waitForSelector('#nav a');
  const heads = page.locator('#first .scroll[aria-label="Changes"] thead th');
  await heads.nth(4).getByRole('button').click();
  const changes = (await column(page, 'Changes', 4)).map(parseFloat);
  const share = (text) => /points/.test(text);
  const shown = await column(page, 'Changes', 4);
  const plain = changes.filter((_, n) => !share(shown[n]));
  assert.ok(plain.length > 20);
  assert.deepEqual(plain, [...plain].sort((a, b) => b - a));
  assert.equal(await heads.last().getByRole('button').count(), 0);
  await close();
});

test('an address of a page that does not exist shows the first screen', async () => {
  const { page, close } = await open(chromium, `${addresses.sweep}#points`);
  await page.waitForSelector('#nav a');
  assert.equal(await page.locator('#nav [aria-current=page]').innerText(), 'Overview');
  assert.ok(await page.locator('#first').isVisible());
  await close();
});
