// Buttons that save the tables of the first screen, which Rust has written. They save all rows, not only the displayed
// ones.

import { el, replace } from '../dom';
import { onLanguage, word } from '../language';
import type { Label, Page } from '../model';
import * as saved from './columns';
import { saving } from './saved';

/** Adds the buttons below each table, so that they do not interrupt reading the first screen. */
export function firstTables(page: Page, first: HTMLElement): void {
  const put = (label: string, buttons: () => HTMLElement[]) => {
    const table = first.querySelector(`.scroll[aria-label="${label}"]`);
    if (!table) return;
    const tools = el('div', { class: 'tools' });
    table.after(el('div', { class: 'table' }, tools));
    const fill = () => replace(tools, ...buttons());
    onLanguage(fill);
    fill();
  };
  switch (page.kind) {
    case 'run': {
      const last: Label | null = page.rest?.row ?? null;
      const rows = last ? [...page.labels, last] : page.labels;
      put('Labels', () => saving(saved.labels(last, page.rest?.labels ?? 0, page.totals.times), word('labels'), () => rows));
      break;
    }
    case 'sweep':
      put('Points', () => saving(saved.points(page), word('points'), () => page.points));
      break;
    case 'capacity':
      put('Probes', () => saving(saved.probes(page), word('probes'), () => page.probes));
      break;
    case 'comparison':
      put('Changes', () => saving(saved.changes, word('change'), () => page.rows));
      put('Also changed', () => saving(saved.changed, word('changed'), () => page.changed));
      break;
  }
}
