// The bar above all pages, with buttons for theme and printing. The check box for the language also works without
// script.

import { el } from './dom';
import { word } from './language';

/** Adds the buttons. `redraw` is called when colours or sizes change. */
export function chrome(redraw: () => void): void {
  const holder = document.getElementById('tools');
  if (!holder) return;
  const theme = el('button', { class: 'quiet', attr: { type: 'button' } }, word('theme'));
  theme.addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    redraw();
  });
  const print = el('button', { class: 'quiet', attr: { type: 'button' } }, word('print'));
  print.addEventListener('click', () => globalThis.print());
  holder.append(theme, print);
  document.querySelector('input#zh')?.addEventListener('change', () => {
    theme.textContent = word('theme');
    print.textContent = word('print');
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', () => { document.documentElement.classList.add('printing'); redraw(); });
  addEventListener('afterprint', () => { document.documentElement.classList.remove('printing'); redraw(); });
}
