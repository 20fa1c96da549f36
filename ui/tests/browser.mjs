// Starts Chromium for the tests: the one of Debian, without a window.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const PATHS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].filter(Boolean);

export async function browser() {
  let last;
  for (const executablePath of PATHS) {
    try {
      // In a container, the sandbox cannot create user namespaces.
      return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`no Chromium: install the package chromium, or name it in CHROMIUM (${last})`);
}

/** Opens an address, and notes what a page must not cause: requests, errors, dialogs. */
export async function open(of, address, options = {}) {
  const context = await of.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const noted = { requests: [], errors: [], dialogs: [] };
  page.on('request', (request) => { if (request.url() !== address && !request.url().startsWith('blob:')) noted.requests.push(request.url()); });
  page.on('pageerror', (error) => noted.errors.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') noted.errors.push(message.text()); });
  page.on('dialog', (dialog) => { noted.dialogs.push(dialog.message()); dialog.dismiss(); });
  await page.goto(address);
  return { page, noted, close: () => context.close() };
}

/** Opens a page of a report and waits until it is displayed. Opening scrolls to the top, so that an earlier click would miss. */
export async function go(page, route) {
  await page.evaluate((to) => new Promise((done) => {
    if (location.hash === `#${to}`) return done();
    addEventListener('hashchange', () => done(), { once: true });
    location.hash = to;
  }), route);
  await page.waitForFunction((to) => document.querySelector('#nav [aria-current=page]')?.getAttribute('href') === `#${to.split('/')[0]}`, route);
}

/** Returns the violations that axe finds. The page's policy allows only its own script, so axe is injected by the debugger. */
export async function wrong(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}
