// Tests of the list of runs against a server that implements its protocol (src/runs/protocol.ts).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, open } from './browser.mjs';
import { shot, until } from './served.mjs';

const dist = (name) => readFileSync(join(import.meta.dirname, '../dist', name), 'utf8');
const SHELL = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>runs</title><style>${dist('runs.css')}</style></head><body>`
  + '<header class="top"><div></div><div id="tools"><label><input type="checkbox" id="zh">中文</label></div></header><main><div id="pages"></div></main>'
  + `<script>${dist('runs.js')}</script></body></html>`;

const entry = (id, criteria, more = {}) => ({
  id, folder: `run-${id}`, address: `/report/${id}`, kind: 'run', state: 'ended', note: { name: '', tags: [] }, at_ms: Date.UTC(2026, 0, id), length_ms: 60_000, plan: 'shop.jmx',
  words: null, doubtful: false, of: null, a: null, criteria, judged: null, program: '0.1.0', end: null, samples: 100, rate_per_s: 10, p95_us: id * 1e5, error_share: 0, ...more,
});

/** Starts a server of a list, which ends with the test `t`. `change` replaces entries and announces the new version. */
async function serve(t, entries) {
  let version = 1;
  let stream = null;
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://host');
    if (url.pathname === '/') return void response.setHeader('content-type', 'text/html').end(SHELL);
    if (url.pathname === '/api/runs') return void response.end(JSON.stringify({ version, whole: true, left: 0, looked: true, entries, gone: [], folder: 'runs', read_only: true }));
    if (url.pathname === '/api/events') {
      stream = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return undefined;
    }
    return void response.writeHead(url.pathname === '/favicon.ico' ? 200 : 404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => { server.closeAllConnections(); server.close(); });
  const change = (...changed) => {
    entries = entries.map((one) => changed.find((other) => other.id === one.id) ?? one);
    version += 1;
    stream.write(`event: changed\ndata: ${version}\n\n`);
  };
  return { url: `http://127.0.0.1:${server.address().port}/#t=abc`, isFollowed: () => stream !== null, change };
}

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium?.close());

test('undecided criteria are neither met nor not met, and an unchanged trend is not drawn anew', async (t) => {
  const running = entry(4, null, { state: 'running', plan: 'other.jmx' });
  const server = await serve(t, [entry(1, { met: 2, of: 2 }), entry(2, { met: 1, of: 2, undecided: 1 }), entry(3, { met: 0, of: 2, undecided: 1 }), running]);
  const { page: tab, noted, close } = await open(chromium, server.url);
  const text = async (where) => (await tab.locator(where).innerText()).replace(/\s+/g, ' ');
  await until(async () => server.isFollowed() && (await tab.locator('.trends tbody tr').count()) === 1);
  assert.match(await text('.trends tbody'), /1 met 1 not met 1 undecided/);
  assert.deepEqual(await tab.locator('svg.trend circle').evaluateAll((all) => all.map((one) => one.getAttribute('class'))), ['met', 'undecided', 'not_met']);
  const row = (name) => `.runs tbody tr:has-text("${name}") td.criteria`;
  assert.deepEqual([await text(row('run-1')), await text(row('run-2')), await text(row('run-3'))], ['✓ 2 of 2 met', '? 1 of 2 met 1 undecided', '✗ 0 of 2 met 1 undecided']);
  await shot(tab, 'trends-undecided');

  await tab.evaluate(() => { globalThis.drawn = document.querySelector('svg.trend'); });
  const isSame = () => tab.evaluate(() => document.querySelector('svg.trend') === globalThis.drawn);
  server.change({ ...running, samples: 1234 });
  await until(async () => /1.234/.test(await text('.runs tbody')));
  assert.ok(await isSame(), 'another run changed');
  server.change(entry(3, { met: 2, of: 2 }));
  await until(async () => /2 met 1 undecided/.test(await text('.trends tbody')));
  await tab.locator('#zh').check();
  assert.match(await text('.trends tbody'), /2 达标 1 无法判定/);
  assert.deepEqual(noted.errors, []);
  await close();
});
