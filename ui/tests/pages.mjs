// Creates the reports for the tests with throng itself: of a run against a bundled target, and of result files written
// here.

import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
export const throng = resolve(process.env.THRONG ?? join(root, 'target/debug/throng'));

export const HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\' javascript:alert(3)';

/** Starts a bundled target, calls `use` with its port, and stops the target. */
async function withTarget(options, use) {
  const target = spawn(throng, ['target', ...options, '--port', '0', '--seconds', '120'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await new Promise((found, failed) => {
      let said = '';
      target.stdout.on('data', (part) => {
        said += part;
        const match = /listening on \S*:(\d+)/.exec(said);
        if (match) found(match[1]);
      });
      target.on('exit', () => failed(new Error(`the target ended: ${said}`)));
    });
    return use(port);
  } finally {
    target.kill();
  }
}

/** Creates a report that takes most of a minute. With a folder in MADE, it is created once for all test files, which do not change it. */
async function once(name, make) {
  const kept = process.env.MADE ? join(process.env.MADE, `${name}.json`) : null;
  if (kept && existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
  const made = await make();
  if (kept) writeFileSync(kept, JSON.stringify(made));
  return made;
}

/** Returns the report of a run of some seconds with errors. */
export const ofRun = () => once('run', runs);

function runs() {
  return withTarget(['service', '--option', 'workers=2', '--option', 'ms=10'], (port) => {
    const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
    try {
      execFileSync(throng, ['run', join(root, 'targets/tests/plans/users.jmx'), '--quiet', '--runs', folder, `-Jport=${port}`, '-Jusers=8', '-Jrampup=2', '-Jduration=12', '--fail', 'p99 < 10s', '--fail', 'error% > 50'],
        { cwd: folder, stdio: 'ignore' });
    } catch (error) {
      // One criterion fails on purpose.
      if (error.status !== 4) throw error;
    }
    return join(folder, readdirSync(folder)[0], 'report.html');
  });
}

/** Returns the report of a run with transactions, steps of users, and a request whose assertion fails. */
export const ofShop = () => once('shop', () => withTarget(['service', '--option', 'workers=3', '--option', 'ms=5'], (port) => {
  const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  execFileSync(throng, ['run', join(import.meta.dirname, 'shop.jmx'), '--quiet', '--runs', folder, `-Jport=${port}`, '-Jusers=8', '-Jrampup=4', '-Jsteps=4', '-Jhold=12'], { cwd: folder, stdio: 'ignore' });
  return join(folder, readdirSync(folder)[0], 'report.html');
}));

/** Returns the pages of a sweep and of a search for capacity. Their plan has a hostile name. */
export const ofAnswers = () => once('answers', answers);

function answers() {
  return withTarget(['fitness', '--option', 'workers=4', '--option', 'scale=0.02', '--option', 'seed=1'], (port) => {
    const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
    const plan = join(folder, `${HOSTILE.replaceAll('/', '')}.jmx`);
    copyFileSync(join(root, 'examples/01-server-fitness/plan.jmx'), plan);
    const ask = (verb, ...line) => {
      const runs = join(folder, verb);
      try {
        execFileSync(throng, [verb, plan, ...line, '-Jhost=127.0.0.1', `-Jport=${port}`, '--runs', runs], { cwd: folder, stdio: 'ignore' });
      } catch (error) {
        // No load met the criteria, or the machine was overloaded: an answer and a page exist nevertheless.
        if (![4, 8].includes(error.status)) throw error;
      }
      return join(runs, readdirSync(runs)[0], 'report.html');
    };
    return {
      sweep: ask('sweep', '--users', '1,2,4,8', '--at-least', '2s', '--at-most', '3s', '--ramp', '1s'),
      capacity: ask('capacity', '--fail', 'p95 < 60ms', '--at-most', '16', '--probe', '2s', '--settle', '1s', '--probes', '4'),
    };
  });
}

/** Returns the page of a comparison of two result files with hostile labels: the second is slower; both are steady, which intervals need. */
export function ofComparison() {
  const [a, b] = [1, 1.3].map((slower) => rowsOf(12, 12_000, slower, undefined, true, 0));
  const runs = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  execFileSync(throng, ['compare', a, b, '--runs', runs], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(runs, readdirSync(runs)[0], 'report.html');
}

/** Returns the report of a result file with `labels` labels, the first of them hostile. `at` returns the time of a row, ms. */
export function ofLabels(labels, rows, at) {
  const file = rowsOf(labels, rows, 1, at);
  execFileSync(throng, ['report', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return file.replace(/jtl$/, 'html');
}

/** Returns the report of a day with 25 000 labels. A debug build needs half a minute for it. */
export const ofManyLabels = () =>
  // Ten rows every 32 s: with rows in every second, it would take minutes.
  once('labels', () => ofLabels(25_000, 27_000, (i) => Math.floor(i / 10) * 32_000));

/** Returns the report of a result file that does not say which samples failed. */
export function ofUnknownErrors() {
  const file = rowsOf(3, 3000, 1, undefined, false);
  execFileSync(throng, ['report', file], { stdio: ['ignore', 'ignore', 'ignore'] });
  return file.replace(/jtl$/, 'html');
}

/** Returns JMeter's report of a result file with hostile labels: its page, and its statistics.json. */
export function ofJMeter() {
  const file = rowsOf(12, 12_000, 1);
  const folder = file.replace(/rows\.jtl$/, 'pages');
  execFileSync(throng, ['-g', file, '-o', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { page: join(folder, 'index.html'), statistics: JSON.parse(readFileSync(join(folder, 'statistics.json'), 'utf8')) };
}

/** Writes a result file. `slower` is a factor for times. `success`: the file has that column. `step`: ms added in the second half. */
function rowsOf(labels, rows, slower, at = (i) => i * 20, success = true, step = 30) {
  const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  const lines = ['timeStamp,elapsed,label,responseCode,responseMessage,threadName,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect'];
  if (success) lines[0] += ',success';
  // This random generator makes the same file each time.
  let seed = 7;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const name = (n) => (n === 0 ? HOSTILE : n === 1 ? '=cmd|calc' : `Page ${letters(n)}`);
  for (let i = 0; i < rows; i += 1) {
    const elapsed = Math.round((5 + 40 * random() ** 3 + (i > rows / 2 ? step : 0)) * slower);
    const bad = random() < 0.03;
    const label = name(i % labels).replaceAll('"', '""');
    lines.push(`${1700000000000 + at(i)},${elapsed},"${label}",${bad ? 503 : 200},${bad ? '"<b>Broken</b>, again"' : 'OK'},Users 1-${1 + (i % 9)},1200,300,9,9,${elapsed - 1},0,0${success ? `,${!bad}` : ''}`);
  }
  const file = join(folder, 'rows.jtl');
  writeFileSync(file, lines.join('\n') + '\n');
  return file;
}

/** Returns names that differ in letters, because names that differ in digits would be folded. */
function letters(n) {
  let text = '';
  for (let rest = n + 1; rest > 0; rest = Math.floor(rest / 19)) text = 'ghijklmnopqrstuvwxyz'[rest % 19] + text;
  return text;
}

// `node pages.mjs run`, `shop`, `answers` and `labels` create the reports before the tests, in parallel.
if (process.argv[1] === import.meta.filename) await { run: ofRun, shop: ofShop, answers: ofAnswers, labels: ofManyLabels }[process.argv[2]]();
