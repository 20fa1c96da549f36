// Rules for the sources and for the built files, checked without a browser.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const here = join(import.meta.dirname, '..');
const files = (folder) => readdirSync(join(here, folder), { recursive: true }).map((name) => join(here, folder, String(name)));

test('no text becomes markup or code', () => {
  const bad = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\('(on|style)/;
  const found = files('src').filter((name) => name.endsWith('.ts')).filter((name) => bad.test(readFileSync(name, 'utf8')));
  assert.deepEqual(found, []);
});

test('both bundles together are less than 120 KB, gzipped', () => {
  const size = files('dist').reduce((sum, name) => sum + gzipSync(readFileSync(name), { level: 9 }).length, 0);
  assert.ok(size < 120 * 1024, `${size} bytes`);
});

test('what is built asks no other host', () => {
  for (const name of files('dist')) {
    const hosts = readFileSync(name, 'utf8').match(/https?:\/\/[^"'`\s)]+/g) ?? [];
    assert.deepEqual(hosts.filter((host) => host !== 'http://www.w3.org/2000/svg'), [], name);
  }
});

test('every word of the page is used', () => {
  const sources = files('src').filter((name) => name.endsWith('.ts') && !name.includes('/words/')).map((name) => readFileSync(name, 'utf8')).join('\n');
  const words = [...readFileSync(join(here, 'src/words/en.ts'), 'utf8').matchAll(/^  (\w+):/gm)].map(([, word]) => word);
  // Words such as `kind_run` are made of a prefix and a value of the data.
  const prefixes = [...sources.matchAll(/`(\w+_)\$\{/g)].map(([, prefix]) => prefix);
  assert.ok(words.length > 200 && prefixes.length > 0);
  assert.deepEqual(words.filter((word) => !new RegExp(`['"]${word}['"]`).test(sources) && !prefixes.some((prefix) => word.startsWith(prefix))), []);
});
