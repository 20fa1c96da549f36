// Tests of the page with the runs of a folder, served by the real program.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, open, wrong } from './browser.mjs';
import { HOSTILE, ofRun, throng } from './pages.mjs';
import { serves, shot, until } from './served.mjs';

let chromium;
let run;
before(async () => {
  chromium = await browser();
  run = dirname(await ofRun());
});
after(() => chromium?.close());

/** Creates a folder with copies of a run: one with a hostile name, one without its report. */
function folder() {
  const runs = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  for (const [name, note] of [['20260101-100000-checkout', { name: 'Baseline', tags: ['release 1'] }], ['20260102-100000-checkout', null], ['20260103-100000-search', { name: HOSTILE, tags: ['<i>'] }]]) {
    cpSync(run, join(runs, name), { recursive: true });
    if (note) writeFileSync(join(runs, name, 'note.json'), JSON.stringify(note));
  }
  execFileSync('rm', [join(runs, '20260102-100000-checkout', 'report.html')]);
  return runs;
}

const rows = (page) => page.locator('.runs tbody tr');
const row = (page, text) => page.locator('.runs tbody tr', { hasText: new RegExp(`(?<!compare-)${text}`) });

test('runs are found, opened, compared, named and deleted', { timeout: 120_000 }, async (t) => {
  const runs = folder();
  const server = await serves(t, runs);
  const { page, noted, close } = await open(chromium, server.full);
  await until(async () => (await rows(page).count()) === 3);
  assert.equal(await page.evaluate(() => location.hash), '');
  assert.ok((await page.locator('main').innerText()).includes(HOSTILE), 'what is hostile is text');
  assert.equal(await page.locator('main img, main i').count(), 0);

  await page.getByRole('searchbox').fill('release checkout');
  assert.equal(await rows(page).count(), 1);
  await page.getByRole('searchbox').fill('');
  const head = page.getByRole('button', { name: 'Samples', exact: true });
  await head.focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'Samples');

  // Set name and tags by keyboard.
  await row(page, '20260102').getByRole('button').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('Release');
  await page.getByLabel('Tags', { exact: true }).fill('release 2, slow，slow');
  await page.keyboard.press('Enter');
  await until(async () => (await page.locator('dialog').count()) === 0);
  await until(async () => /release 2/.test(await row(page, '20260102').innerText()));
  assert.deepEqual(JSON.parse(readFileSync(join(runs, '20260102-100000-checkout/note.json'), 'utf8')), { name: 'Release', tags: ['release 2', 'slow'] });

  // A missing report is created. The page of the report does not contain a token.
  await page.getByRole('link', { name: 'Release', exact: true }).click();
  await page.waitForURL('**/report/**');
  await until(async () => (await page.locator('#first').count()) === 1);
  assert.ok(existsSync(join(runs, '20260102-100000-checkout/report.html')));
  await page.goBack();
  await until(async () => (await rows(page).count()) === 3);

  await row(page, '20260101').getByRole('checkbox').check();
  assert.ok(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled());
  await row(page, '20260102').getByRole('checkbox').check();
  assert.match(await page.locator('.actions').innerText(), /A: Baseline, B: Release|A: Release, B: Baseline/);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.waitForURL('**/report/**');
  assert.match(await page.locator('#first').innerText(), /Percentiles of both/);
  await page.goBack();
  await until(async () => (await rows(page).count()) === 4);
  assert.ok(readdirSync(runs).some((name) => name.startsWith('compare-')));

  await row(page, '20260101').getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  assert.match(await page.locator('dialog').innerText(), /20260101-100000-checkout/);
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.ok(existsSync(join(runs, '20260101-100000-checkout')));
  writeFileSync(join(runs, '20260101-100000-checkout', 'mine.txt'), '');
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await until(async () => /mine\.txt is not a file of a run/.test(await page.locator('dialog').innerText()));
  assert.deepEqual(await wrong(page), []);
  await page.keyboard.press('Escape');
  execFileSync('rm', [join(runs, '20260101-100000-checkout', 'mine.txt')]);
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await until(async () => (await rows(page).count()) === 3);
  assert.ok(!existsSync(join(runs, '20260101-100000-checkout')));
  // A run that is created elsewhere appears without a reload.
  cpSync(run, join(runs, '20260104-100000-later'), { recursive: true });
  await until(async () => (await row(page, '20260104-100000-later').count()) === 1);
  assert.deepEqual([noted.errors, noted.dialogs], [[], []]);
  assert.deepEqual(noted.requests.filter((url) => !url.startsWith(server.origin)), []);
  await close();
});

test('the list is accessible and fits its window, and the other link only reads', { timeout: 120_000 }, async (t) => {
  const server = await serves(t, folder());
  for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 390, height: 844 } } })) {
    const { page, noted, close } = await open(chromium, server.full, options);
    await until(async () => (await rows(page).count()) === 3);
    await row(page, '20260101').getByRole('checkbox').check();
    assert.deepEqual(await wrong(page), [], name);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth) <= 0, name);
    await shot(page, `runs-${name}`);
    await row(page, '20260102').getByRole('button').click();
    assert.deepEqual(await wrong(page), [], `${name}, dialog`);
    await shot(page, `runs-${name}-dialog`);
    assert.deepEqual(noted.errors, []);
    await close();
  }
  const { page, close } = await open(chromium, server.read);
  await until(async () => (await rows(page).count()) === 3);
  assert.equal(await page.getByRole('button', { name: /Delete|Name and tags/ }).count(), 0);
  for (const text of ['20260101', '20260102']) await row(page, text).getByRole('checkbox').check();
  await page.locator('label:has(#zh)').click();
  await until(async () => /结论/.test(await page.locator('.runs thead').innerText()));
  await shot(page, 'runs-zh');
  await page.getByRole('button', { name: '对比', exact: true }).click();
  await page.waitForURL('**/report/**');
  await close();
  const bad = await open(chromium, `${server.origin}/#t=wrong`);
  await until(async () => /Invalid or expired/.test(await bad.page.locator('main').innerText()));
  await bad.close();
});

test('a plan with several runs has a trend of its judged time, with verdicts and versions', { timeout: 120_000 }, async (t) => {
  const runs = folder();
  const change = (name, p99, holds, version) => {
    const file = join(runs, name, 'summary.json');
    const summary = JSON.parse(readFileSync(file, 'utf8'));
    const of = summary.criteria.judged.find(({ criterion }) => criterion.startsWith('response p99'));
    [of.value, of.holds, summary.throng] = [p99, holds, version];
    summary.criteria.judged = [of];
    summary.start_ms = Date.UTC(2026, 0, Number(name.slice(6, 8)), 10);
    writeFileSync(file, JSON.stringify(summary));
  };
  change('20260101-100000-checkout', 100, true, '0.1.0');
  change('20260102-100000-checkout', 200, true, '0.1.0');
  change('20260103-100000-search', 250, false, '0.2.0');
  const server = await serves(t, runs);
  for (const [name, options] of Object.entries({ wide: {}, middle: { viewport: { width: 800, height: 900 } }, narrow: { viewport: { width: 390, height: 844 } } })) {
    const { page, noted, close } = await open(chromium, server.full, options);
    await until(async () => (await page.locator('.trends tbody tr').count()) === 1);
    const text = (await page.locator('.trends tbody tr').innerText()).replace(/\s+/g, ' ');
    assert.match(text, /^users\.jmx 3 runs 250 ms Response p99 \+25\.0 % 2 met 1 not met 0\.1\.0 → 0\.2\.0$/);
    const trend = page.locator('.trends svg.trend');
    assert.match(await trend.getAttribute('aria-label'), /Response p99: 100 ms at first, 250 ms at last, 3 runs/);
    assert.equal(await trend.locator('circle.met').count(), 2);
    assert.equal(await trend.locator('circle.not_met').count(), 1);
    assert.equal(await trend.locator('line.mark').count(), 1, 'the version changed once');
    assert.match(await trend.locator('line.limit title').textContent(), /10 s/);
    const heights = await trend.locator('circle').evaluateAll((all) => all.map((one) => Number(one.getAttribute('cy'))));
    assert.ok(heights[0] > heights[1] && heights[1] > heights[2], `${heights}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth) <= 0, name);
    assert.deepEqual(await wrong(page), [], name);
    await shot(page, `trends-${name}`);
    await page.getByRole('searchbox').fill('20260101');
    assert.equal(await page.locator('.trends').count(), 0, 'a single run has no trend');
    assert.deepEqual(noted.errors, []);
    await close();
  }
});

test('thousands of runs are listed without a browser that stands still', { timeout: 180_000 }, async (t) => {
  const runs = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  const summary = readFileSync(join(run, 'summary.json'), 'utf8');
  for (let n = 0; n < 3000; n += 1) {
    const one = join(runs, `2026${String(1 + (n % 12)).padStart(2, '0')}01-${String(100000 + n)}-plan`);
    mkdirSync(one);
    for (const file of ['seconds.jsonl', 'properties.txt']) writeFileSync(join(one, file), '');
    writeFileSync(join(one, 'summary.json'), summary);
  }
  const server = await serves(t, runs);
  const { page, noted, close } = await open(chromium, server.full);
  await page.evaluate(() => { globalThis.long = 0; new PerformanceObserver((list) => list.getEntries().forEach((entry) => { globalThis.long = Math.max(globalThis.long, entry.duration); })).observe({ type: 'longtask', buffered: true }); });
  await until(async () => /of 3000/.test(await page.locator('.pager').innerText()));
  assert.equal(await rows(page).count(), 100, 'so many are drawn at once');
  await page.getByRole('button', { name: 'Next' }).click();
  assert.match(await page.locator('.pager').innerText(), /Rows 101 to 200/);
  await page.getByRole('searchbox').fill('102999');
  assert.equal(await rows(page).count(), 1);
  console.log(`longest task with 3 000 runs: ${Math.round(await page.evaluate(() => globalThis.long))} ms`);
  assert.deepEqual(noted.errors, []);
  await close();
});
