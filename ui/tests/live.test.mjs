// Tests of the live page against a server that implements the protocol (src/live/protocol.ts).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, open } from './browser.mjs';
import { shot } from './served.mjs';

const TOKEN = 'abc-123_DEF';
const dist = (name) => readFileSync(join(import.meta.dirname, '../dist', name), 'utf8');
const words = (en, zh) => ({ en, zh });

/** A verdict without findings. */
const verdict = (en, zh) => ({ findings: [], hidden: [], lines: [
  { kind: 'nothing', head: words('', ''), words: words(en, zh) },
  { kind: 'checked', head: words('Checked', '已检查'), words: words('Checked: a cause.', '已检查：原因。'), items: [words('a cause', '原因')] },
] });

function shell() {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>live</title><style>${dist('live.css')}</style></head><body>`
    + '<header class="top"><div></div><div id="tools"><label><input type="checkbox" id="zh">中文</label></div></header><main><div id="pages"></div></main>'
    + `<script>${dist('live.js')}</script></body></html>`;
}

const now = (n, more = {}) => ({
  at_ms: 1e12 + n * 1000, elapsed_ms: n * 1000, remaining_ms: 60_000 - n * 1000, users: 10, users_wanted: 10, offered_per_s: null, rate_per_s: 100 + n,
  times: 'response', p50_us: 1000, p95_us: 43_500, p99_us: 50_000, service_p95_us: 43_500, error_share: 0, transactions: false, succeeded_share: null, as_expected_share: null, in_flight: 3, own_share: 0.01, own_us: [1000, 100_000], cpu: 0.2, quota: null,
  labels: { rows: [], more: 0, seconds: 2 }, cost: [], paused: false, ...more,
});

function page() {
  const column = (id, name, unit) => ({ id, name: words(name, name), unit, scale: 1, values: [1, 2], label: null });
  const chart = (id, columns) => ({ id, title: words(id, id), caption: words('', ''), columns, log: false, bands: [], page: 'overview' });
  return {
    kind: 'run', form: 1, live: true,
    about: { program: 'throng', title: 'plan <b>.jmx', plan: 'plan.jmx', plan_hash: '', run: 'run', start_ms: 1e12, length_ms: 2000, ending: { kind: 'running', reason: { en: '', zh: '' } }, load: { users: 10, rate: null, length_ms: 60_000, open: false },
      machine: { processors: 2, memory: 1, threads: 2, ports: 0, target_is_here: true }, properties: [], settings: [], notes: [], flaws: [], has: {} },
    verdict: verdict('Too early to say.', '现在下结论为时过早。'), criteria: [], totals: {}, labels: [], rest: null, causes: [], samples: [], classes: [], targets: [], jmeter: null,
    timeline: { step_ms: 1000, at_ms: [1e12, 1e12 + 1000], marks: [], warmup_ms: null, steady: null, heat: null, columns: [column('rate', 'Rate', '/s'), column('p95', 'p95', 'us')], charts: [chart('load', ['rate']), chart('response', ['p95'])] },
  };
}

/** Starts a server whose events the test `t` sends one by one, and which ends with that test. */
async function serve(t, read_only) {
  const state = { streams: [], controls: [], asked: [], broken: 0 };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://host');
    state.asked.push(`${request.method} ${url.pathname} ${request.headers['last-event-id'] ?? ''}`.trim());
    if (url.pathname === '/') return void response.setHeader('content-type', 'text/html').end(shell());
    if (url.pathname === '/favicon.ico') return void response.end();
    if (url.pathname === '/report/xyz') return void response.setHeader('content-type', 'text/html').end('<title>report</title><h1>the report</h1>');
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    if (url.pathname === '/api/page') return void response.end(JSON.stringify({ page: page(), now: now(2), read_only, last_id: 2, controls: ['users', 'pause', 'stop', 'stop-now', 'mark'] }));
    if (url.pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      state.streams.push(response);
      return undefined;
    }
    if (url.pathname === '/api/control') {
      let body = '';
      request.on('data', (part) => { body += part; });
      request.on('end', () => { state.controls.push(JSON.parse(body)); response.end(JSON.stringify({ ok: true, words: words('20 users', '20 个用户') })); });
      return undefined;
    }
    return void response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  state.url = `http://127.0.0.1:${server.address().port}/`;
  state.send = (id, event, data) => state.streams.at(-1).write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  state.close = () => server.closeAllConnections();
  t.after(() => { server.closeAllConnections(); server.close(); });
  return state;
}

const until = async (holds) => {
  for (let i = 0; i < 400; i += 1) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  assert.fail(`never: ${holds}`);
};

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium?.close());

test('the page follows the run, changes it, and becomes its report', async (t) => {
  const server = await serve(t, false);
  const { page: tab, noted, close } = await open(chromium, `${server.url}#t=${TOKEN}`);
  await until(() => server.streams.length > 0);
  assert.equal(await tab.evaluate(() => location.hash), '', 'the token leaves the address');
  assert.match(await tab.locator('h1').innerText(), /plan <b>\.jmx/);
  server.send(3, 'second', { at_ms: 1e12 + 2000, values: [123, 2500], heat: null, now: now(3, { rate_per_s: 123 }) });
  server.send(4, 'errors', [{ outcome: 'failed', code: '503', message: '<i>no</i>', first_label: 'Pay', count: 7, first_ms: 0, last_ms: 0 }]);
  server.send(5, 'criteria', [{ text: 'p99 < 1s', met: false, value: 2, shown: { en: '2s', zh: '2s' }, of: null }]);
  await until(async () => /123\/s/.test(await tab.locator('dl.now').innerText()));
  assert.equal(await tab.locator('.labels').isVisible(), false, 'no table without labels');
  await until(async () => /7 503 <i>no<\/i> \(Pay\)/.test(await tab.locator('.errors').innerText()));
  assert.match(await tab.locator('.lamps').innerText(), /✗\s+p99 < 1s/);
  await tab.getByRole('spinbutton').fill('20');
  await tab.getByRole('button', { name: 'Set', exact: true }).first().click();
  await until(() => server.controls.length === 1);
  assert.deepEqual(server.controls, [{ command: 'users', value: 20 }]);
  await until(async () => /Done: 20 users/.test(await tab.locator('.controls').innerText()));

  // The connection is lost; the page reconnects and sends the id of the last event.
  const before = server.streams.length;
  server.close();
  await until(() => server.streams.length > before);
  assert.equal(server.asked.filter((line) => line.startsWith('GET /api/events')).at(-1), 'GET /api/events 5');
  server.send(6, 'second', { at_ms: 1e12 + 3000, values: [321, 2500], heat: null, now: now(4, { rate_per_s: 321 }) });
  await until(async () => /321\/s/.test(await tab.locator('dl.now').innerText()));

  server.send(7, 'end', { report: '/report/xyz' });
  await tab.waitForURL('**/report/xyz');
  assert.equal(await tab.locator('h1').innerText(), 'the report');
  const errors = noted.errors.filter((text) => !/ERR_(EMPTY_RESPONSE|CONNECTION|INCOMPLETE|NETWORK|SOCKET)/.test(text));
  assert.deepEqual([errors, noted.dialogs], [[], []]);
  await close();
});

test('a read-only link has no controls, and a wrong token is told', async (t) => {
  const server = await serve(t, true);
  const good = await open(chromium, `${server.url}#t=${TOKEN}`);
  await until(() => server.streams.length > 0);
  assert.equal(await good.page.locator('.controls').count(), 0);
  await good.close();
  const bad = await open(chromium, `${server.url}#t=wrong`);
  await until(async () => /Invalid or expired/.test(await bad.page.locator('main').innerText()));
  await bad.close();
});

test('figures have their names, a quota has a lamp, and the verdict is what the server says', async (t) => {
  const server = await serve(t, true);
  const { page: tab, noted, close } = await open(chromium, `${server.url}#t=${TOKEN}`);
  await until(() => server.streams.length > 0);
  const text = async (where) => (await tab.locator(where).innerText()).replace(/\s+/g, ' ');
  assert.match(await text('.verdict'), /Too early to say\./);
  assert.doesNotMatch(await text('.verdict'), /No problem found/);
  assert.match(await text('dl.now'), /Response p95 43\.5 ms/i);
  assert.doesNotMatch(await text('dl.now'), /Service p95/i);
  assert.match(await text('dl.now'), /Throng itself caused 1 ms of 100 ms, on average/);

  server.send(3, 'verdict', verdict('No problem found so far: 2 causes looked for.', '目前没有发现异常。'));
  await until(async () => /No problem found so far: 2 causes looked for\./.test(await text('.verdict')));
  assert.doesNotMatch(await text('.verdict'), /Checked/);
  server.send(4, 'second', { at_ms: 1e12 + 2000, values: [1, 2], heat: null, now: now(3, { service_p95_us: 25_300, transactions: true, succeeded_share: 1, as_expected_share: 0.99999, cost: [{ name: words('Cost', '费用'), value: '0.07 EUR', note: words('traffic', '流量') }], quota: { processors: 1.5, stopped_share: 0.01, is_limit: false } }) });
  await until(async () => /✓ CPU quota: 1\.5 processors throttled the generator in 1 % of its periods/.test(await text('.lamps')));
  assert.match(await text('dl.now'), /Service p95 25\.3 ms JMeter's elapsed/i);
  assert.match(await text('dl.now'), /Failed requests 0 %/i);
  assert.match(await text('dl.now'), /Requests that succeeded 100 % As expected 99\.999 %/i);
  assert.match(await text('dl.now'), /Cost 0\.07 EUR traffic/i);
  assert.match(await text('.verdict'), /No problem found so far/);
  server.send(5, 'second', { at_ms: 1e12 + 3000, values: [1, 2], heat: null, now: now(4, { quota: { processors: 1.5, stopped_share: 0.3, is_limit: true } }) });
  await until(async () => /✗ CPU quota: 1\.5 processors .* 30 % .* doubtful/.test(await text('.lamps')));
  server.send(6, 'criteria', [{ text: 'response p95 < 1s', met: false, value: 2, shown: { en: '2s', zh: '2s' }, of: null }]);
  await until(async () => /✗ response p95 < 1s/.test(await text('.lamps')));
  server.send(7, 'verdict', verdict('Not all checks are green.', '并非所有检查都为绿色。'));
  await until(async () => /Not all checks are green\./.test(await text('.verdict')));
  await tab.locator('#zh').check();
  await until(async () => /并非所有检查都为绿色。/.test(await text('.verdict')));
  assert.match(await text('dl.now'), /响应时间 p95/);
  assert.deepEqual([noted.errors, noted.dialogs], [[], []]);
  await close();
});

test('labels of the last seconds have a table, in both languages', async (t) => {
  const server = await serve(t, true);
  const row = (name, more = {}) => ({ name, transaction: false, folded: 0, rate_per_s: 40, p95_us: 43_500, error_share: 0, share_of_time: 0.75, ...more });
  for (const width of [1280, 390]) {
    const streams = server.streams.length;
    const { page: tab, noted, close } = await open(chromium, `${server.url}#t=${TOKEN}`, { viewport: { width, height: 800 } });
    await until(() => server.streams.length > streams);
    const rows = [row('<b>Pay</b>', { error_share: 0.25 }), row('Checkout', { transaction: true, share_of_time: null }), row('Item 1', { folded: 7, share_of_time: 0.25 })];
    await until(() => { server.send(3, 'second', { at_ms: 1e12 + 2000, values: [1, 2], heat: null, now: now(3, { labels: { rows, more: 30, seconds: 10 } }) }); return tab.locator('.labels').isVisible(); });
    const text = async (at) => (await tab.locator('.labels tbody tr').nth(at).innerText()).replace(/\s+/g, ' ');
    assert.equal(await text(0), '<b>Pay</b> 40/s 43.5 ms 25 % 75 %');
    assert.equal(await text(1), 'Checkout transaction 40/s 43.5 ms 0 % –');
    assert.match(await text(2), /^Item 1 7 labels .* 25 %$/);
    assert.match(await tab.locator('.labels thead').innerText(), /Label\s+Rate\s+Response p95\s+Errors\s+Share of service time/);
    assert.match(await tab.locator('.labels .note').innerText(), /last 10 s\. .*with their requests\. 30 more labels/);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, `${width}`);
    await shot(tab, `live-labels-${width}`);
    await tab.locator('#zh').check();
    assert.match(await tab.locator('.labels').innerText(), /标签[^]*响应时间 p95[^]*最近 10 秒/);
    assert.deepEqual([noted.errors, noted.dialogs], [[], []]);
    await close();
  }
});
