// Tests of the report of a run with transactions, steps of users and failing assertions, in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, go, open, wrong } from './browser.mjs';
import { ofShop } from './pages.mjs';
import { shot } from './served.mjs';

let chromium;
let shop;
before(async () => {
  chromium = await browser();
  shop = pathToFileURL(await ofShop()).href;
});
after(() => chromium?.close());

const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test('no page is wider than a phone', async () => {
  const { page, noted, close } = await open(chromium, shop, { viewport: { width: 390, height: 800 } });
  await page.waitForSelector('#nav a');
  const routes = await page.$$eval('#nav a', (links) => links.map((link) => link.getAttribute('href').slice(1)));
  for (const route of [...routes, 'labels/0']) {
    await go(page, route);
    assert.ok(await tooWide(page) <= 0, `${route} is ${await tooWide(page)} px too wide`);
    assert.deepEqual(await wrong(page), [], route);
    await shot(page, `shop-390-${route.replace('/', '-')}`);
  }
  assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
  await close();
});

test('the table of labels fits beside its phases, and counts no time twice', async () => {
  const { page, close } = await open(chromium, shop);
  await page.waitForSelector('#nav a');
  await go(page, 'labels');
  await shot(page, 'shop-1280-labels');
  const [inner, outer] = await page.locator('#pages .scroll').evaluate((of) => [of.scrollWidth, of.clientWidth]);
  assert.ok(inner <= outer, `the table is ${inner - outer} px wider than its place`);
  const follows = await page.evaluate(() => document.querySelector('#pages table').compareDocumentPosition(document.querySelector('#pages ul.legend')) & Node.DOCUMENT_POSITION_FOLLOWING);
  assert.ok(follows, 'the key of the phases comes after the labels');
  const share = await page.locator('#pages thead th').allInnerTexts().then((all) => all.findIndex((text) => /share/i.test(text)));
  let sum = 0;
  for (const row of await page.locator('#pages tbody tr').all()) {
    const text = (await row.locator('th, td').nth(share).innerText()).trim();
    if (/transaction/.test(await row.innerText())) assert.equal(text, '–');
    else sum += Number.parseFloat(text);
  }
  assert.ok(Math.abs(sum - 100) < 1, `${sum} %`);
  await close();
});

test('evidence has words and times of day', async () => {
  const { page, close } = await open(chromium, shop);
  await page.waitForSelector('#nav a');
  await go(page, 'findings');
  await shot(page, 'shop-1280-findings');
  const rows = await page.locator('table.evidence tr').allInnerTexts();
  assert.ok(rows.length > 0);
  for (const row of rows) assert.doesNotMatch(row, /[a-z]_[a-z]|epoch/, row);
  assert.ok(rows.some((row) => /^First error\s+\d\d:\d\d:\d\d\s*$/.test(row)), rows.join('\n'));
  await page.locator('#zh').check();
  const chinese = (await page.locator('table.evidence').allInnerTexts()).join('\n');
  assert.match(chinese, /首个错误/);
  assert.doesNotMatch(chinese, /\d (requests|samples|connections|users|times)/);
  await close();
});

test('marks have a row of their own above the chart', async () => {
  const { page, close } = await open(chromium, 'about:blank');
  await page.addInitScript(() => {
    globalThis.texts = [];
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function record(text, x, y) { globalThis.texts.push([text, y / devicePixelRatio]); return fill.call(this, text, x, y); };
  });
  await page.goto(`${shop}#time`);
  await page.waitForSelector('#chart-load .u-over');
  const marks = await page.evaluate(() => globalThis.texts.filter(([text]) => text.startsWith('step ')));
  assert.ok(marks.length >= 4, `${marks}`);
  const top = await page.evaluate(() => document.querySelector('#chart-load .u-over').getBoundingClientRect().top - document.querySelector('#chart-load canvas').getBoundingClientRect().top);
  for (const [text, y] of marks) assert.ok(y < top, `${text} at ${y}, the chart begins at ${top}`);
  await close();
});

test('the length of the run and each setting are said once', async () => {
  const { page, close } = await open(chromium, shop);
  await page.waitForSelector('#nav a');
  await go(page, 'plan');
  await shot(page, 'shop-1280-plan');
  const row = (name) => page.locator('#pages table.plain tr', { has: page.getByRole('rowheader', { name, exact: true }) }).locator('td').innerText();
  assert.match(await row('Lasted'), /^\d+ s$/);
  assert.match(await row('Load'), /^8 users/);
  assert.equal(await row('Ended'), 'completed');
  assert.match(await row('Plan'), /shop\.jmx$/);
  const settings = await page.locator('#pages').innerText();
  assert.match(settings, /^port\t/m);
  assert.doesNotMatch(settings, /-Jport/, 'a property is not listed again as a setting');
  await close();
});

test('paper has the whole summary, whatever page is shown, and no controls', async () => {
  const { page, close } = await open(chromium, shop, { colorScheme: 'dark', viewport: { width: 688, height: 900 } });
  await page.waitForSelector('#nav a');
  for (const route of ['labels', 'samples', 'overview']) {
    await go(page, route);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.ok(await page.locator('#first').isVisible(), `${route}: the summary`);
    if (route !== 'overview') assert.ok(await page.locator('#pages h1').isVisible());
    for (const text of await page.locator('button, input, select, nav a').all()) assert.equal(await text.isVisible() && !(await text.evaluate((of) => of.matches('button.sort'))), false, await text.evaluate((of) => of.outerHTML));
    const { background, ink, wide, body } = await page.evaluate(() => ({ background: getComputedStyle(document.documentElement).backgroundColor, ink: getComputedStyle(document.body).color, wide: document.documentElement.scrollWidth - innerWidth, body: getComputedStyle(document.body).maxWidth }));
    assert.deepEqual([background, ink, body], ['rgb(255, 255, 255)', 'rgb(23, 32, 42)', 'none'], route);
    assert.ok(wide <= 0, `${route} is ${wide} px too wide for paper`);
    await shot(page, `shop-paper-${route}`);
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  }
  await close();
});
