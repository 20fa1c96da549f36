// Starts programs that serve pages, for the tests.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { throng } from './pages.mjs';

const root = resolve(import.meta.dirname, '../..');

/** Waits until the condition holds. */
export async function until(holds) {
  for (let i = 0; i < 1200; i += 1) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail(`never: ${holds}`);
}

/** Saves a screenshot of the page in the folder SHOTS, for people to look at. */
export async function shot(page, name) {
  if (!process.env.SHOTS) return;
  mkdirSync(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
}

/** Starts a program, which ends with the test `t`. Resolves with the first match of the pattern in its output. */
function says(t, line, pattern, folder) {
  const child = spawn(throng, line, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill());
  process.on('exit', () => child.kill());
  const ended = new Promise((done) => child.on('exit', (code) => done(code)));
  let said = '';
  const found = new Promise((good, bad) => {
    const take = (part) => {
      said += part;
      const match = pattern.exec(said);
      if (match) good(match);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('exit', () => bad(new Error(`it ended: ${said}`)));
  });
  return { child, ended, found };
}

const LINKS = /(http:\/\/\S+)\s[^]*?(http:\/\/\S+)\s/;

/** Starts a run with a live page for the test `t`, against a bundled target that fails now and then. */
export async function runs(t, { seconds, users }) {
  const folder = mkdtempSync(join(tmpdir(), 'throng-ui-'));
  const target = says(t, ['target', 'service', '--port', '0', '--seconds', '120', '--option', 'workers=3', '--option', 'ms=10'], /listening on \S*:(\d+)/, folder);
  const [, port] = await target.found;
  const run = says(t, ['run', join(root, 'targets/tests/plans/users.jmx'), '--web', '--runs', folder, `-Jport=${port}`, `-Jusers=${users}`, '-Jrampup=2', `-Jduration=${seconds}`,
    '--fail', 'p99 < 10s', '--fail', 'error% < 0.1 for label GET', '--abort-if', 'error% > 99 over 30s'], LINKS, folder);
  const [, full, read] = await run.found;
  return { full, read, origin: new URL(full).origin, ended: run.ended, folder };
}

/** Starts a server for the runs in a folder, which ends with the test `t`. */
export async function serves(t, folder) {
  const server = says(t, ['web', folder], LINKS, folder);
  const [, full, read] = await server.found;
  return { full, read, origin: new URL(full).origin };
}
