// Tests that tables saved from a page equal those that the program writes, byte for byte except for the order of rows.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, go, open } from './browser.mjs';
import { HOSTILE, ofAnswers, ofComparison, ofLabels, ofRun, throng } from './pages.mjs';

const PAGES = {
  run: { first: ['labels'], routes: { labels: ['labels'], samples: ['samples'], connections: ['connections'], plan: ['properties', 'settings'] } },
  rows: { first: ['labels'], routes: { labels: ['labels'], errors: ['errors'] } },
  sweep: { first: ['points'], routes: {} },
  capacity: { first: ['probes'], routes: {} },
  comparison: { first: ['changes'], routes: { change: ['changes'] } },
};

let chromium;
const files = {};
before(async () => {
  chromium = await browser();
  Object.assign(files, { run: await ofRun(), rows: ofLabels(60, 6000), ...(await ofAnswers()), comparison: ofComparison() });
});
after(() => chromium?.close());

/** Writes the tables of the same report with the program. Returns a function that reads one of them. */
function written(file) {
  const folder = join(mkdtempSync(join(tmpdir(), 'throng-ui-')), 'tables');
  const of = file.endsWith('rows.html') ? file.replace(/html$/, 'jtl') : dirname(file);
  execFileSync(throng, ['report', of, '--tables', folder, '-o', join(dirname(folder), 'again.html')], { stdio: ['ignore', 'ignore', 'inherit'] });
  return (name) => readFileSync(join(folder, name), 'utf8');
}

/** Returns the files that all buttons with this name save. */
async function saved(page, button, where) {
  const found = [];
  for (const one of await page.locator(`${where} .tools`).getByRole('button', { name: button }).all()) {
    const [download] = await Promise.all([page.waitForEvent('download'), one.click()]);
    found.push([download.suggestedFilename(), readFileSync(await download.path(), 'utf8')]);
    // Chromium drops more than ten saved files per second, which no user reaches.
    await page.waitForTimeout(200);
  }
  return found;
}

/** Returns the rows in sorted order. */
const lines = (text) => text.replaceAll('},\n', '}\n').split('\n').sort();

for (const [kind, of] of Object.entries(PAGES)) {
  describe(`tables of a ${kind}`, () => {
    test('are those of the program', async () => {
      const file = written(files[kind]);
      const { page, noted, close } = await open(chromium, pathToFileURL(files[kind]).href);
      await page.waitForSelector('#nav a');
      for (const [ending, button] of [['csv', 'Save CSV'], ['json', 'Save JSON']]) {
        for (const [route, names] of Object.entries({ overview: of.first, ...of.routes })) {
          await go(page, route);
          const found = await saved(page, button, route === 'overview' ? '#first' : '#pages');
          assert.deepEqual(found.map(([name]) => name).filter((name) => names.includes(name.replace(/\.\w+$/, ''))), names.map((name) => `${name}.${ending}`), route);
          for (const [name, text] of found) assert.deepEqual(lines(text), lines(file(name)), `${route}: ${name}`);
        }
      }
      assert.deepEqual(noted, { requests: [], errors: [], dialogs: [] });
      await close();
    });
  });
}

test('a chart is saved as columns of the timeline', async () => {
  const cells = (text) => text.trimEnd().split('\r\n').map((line) => line.split(','));
  const [names, ...rows] = cells(written(files.run)('timeline.csv'));
  const { page, close } = await open(chromium, pathToFileURL(files.run).href);
  await page.waitForSelector('#nav a');
  await go(page, 'time');
  const chart = page.locator('#chart-load');
  await chart.getByRole('button', { name: 'Show as table' }).click();
  const [[name, text]] = await saved(page, 'Save CSV', '#chart-load');
  assert.equal(name, 'load.csv');
  const [own, ...ownRows] = cells(text);
  assert.ok(own.length >= 4 && ownRows.length === rows.length, `${own}`);
  own.forEach((column, n) => assert.deepEqual(ownRows.map((row) => row[n]), rows.map((row) => row[names.indexOf(column)]), column));
  await close();
});

test('no cell is a formula, and a filter counts', async () => {
  const { page, close } = await open(chromium, pathToFileURL(files.rows).href);
  await page.waitForSelector('#nav a');
  await go(page, 'labels');
  await page.locator('input[type=search]').fill('cmd');
  const [[, csv]] = await saved(page, 'Save CSV', '#pages');
  assert.match(csv.split('\r\n')[1], /^'=cmd\|calc,request,/);
  assert.equal(csv.split('\r\n').length, 3);
  await page.locator('input[type=search]').fill('alert(1)');
  const [[, json]] = await saved(page, 'Save JSON', '#pages');
  assert.equal(JSON.parse(json)[0].label, HOSTILE);
  await close();
});

test('the buttons speak Chinese, and are there at 390 px', async () => {
  const { page, close } = await open(chromium, pathToFileURL(files.rows).href, { viewport: { width: 390, height: 800 } });
  await page.waitForSelector('#nav a');
  await page.locator('#zh').check();
  for (const where of ['#first', '#pages']) {
    if (where === '#pages') await go(page, 'labels');
    assert.ok(await page.locator(`${where} .tools`).getByRole('button', { name: '保存 JSON' }).first().isVisible());
  }
  await close();
});
