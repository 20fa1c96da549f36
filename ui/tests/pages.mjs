// Reports to look at: made by throng itself, of a run against a bundled target and of result files written here.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
export const throng = resolve(process.env.THRONG ?? join(root, 'target/debug/throng'));

export const HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\' javascript:alert(3)';

/** The report of a run of some seconds, with errors in it. */
export async function ofRun() {
  const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  const target = spawn(throng, ['target', 'service', '--port', '0', '--seconds', '60', '--option', 'workers=2', '--option', 'ms=10'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((found, failed) => {
    let said = '';
    target.stdout.on('data', (part) => {
      said += part;
      const match = /listening on \S*:(\d+)/.exec(said);
      if (match) found(match[1]);
    });
    target.on('exit', () => failed(new Error(`the target ended: ${said}`)));
  });
  try {
    execFileSync(throng, ['run', join(root, 'targets/tests/plans/users.jmx'), '--quiet', '--runs', folder, `-Jport=${port}`, '-Jusers=8', '-Jrampup=2', '-Jduration=12', '--fail', 'p99 < 10s', '--fail', 'error% > 50'],
      { cwd: folder, stdio: 'ignore' });
  } catch (error) {
    // A criterion that fails on purpose.
    if (error.status !== 4) throw error;
  } finally {
    target.kill();
  }
  const run = readdirSync(folder)[0];
  return join(folder, run, 'report.html');
}

/** The report of a result file with so many labels, the first of which are hostile. */
export function ofLabels(labels, rows) {
  const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  const lines = ['timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect'];
  // A generator of our own, so that the file is the same each time.
  let seed = 7;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const name = (n) => (n === 0 ? HOSTILE : n === 1 ? '=cmd|calc' : `Page ${letters(n)}`);
  for (let i = 0; i < rows; i += 1) {
    const elapsed = Math.round(5 + 40 * random() ** 3 + (i > rows / 2 ? 30 : 0));
    const bad = random() < 0.03;
    const label = name(i % labels).replaceAll('"', '""');
    lines.push(`${1700000000000 + i * 20},${elapsed},"${label}",${bad ? 503 : 200},${bad ? '"<b>Broken</b>, again"' : 'OK'},Users 1-${1 + (i % 9)},${!bad},1200,300,9,9,${elapsed - 1},0,0`);
  }
  const file = join(folder, 'rows.jtl');
  writeFileSync(file, lines.join('\n') + '\n');
  execFileSync(throng, ['report', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(folder, 'rows.html');
}

/** Names that differ in letters: those that differ in digits would be folded. */
function letters(n) {
  let text = '';
  for (let rest = n + 1; rest > 0; rest = Math.floor(rest / 19)) text = 'ghijklmnopqrstuvwxyz'[rest % 19] + text;
  return text;
}
