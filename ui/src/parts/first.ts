// The script's additions to the first screen, which Rust has written: its tables can be sorted and saved. A saved table
// has all rows, not only the displayed ones.

import { el, replace } from '../dom';
import { onLanguage, shownText } from '../language';
import type { Label, Page } from '../model';
import * as saved from './columns';
import { saving, type Saved } from './saved';
import { sortable } from './table';

/** Makes the tables sortable, and adds the buttons below each table, so that they do not interrupt reading the first screen. */
export function firstTables(page: Page, first: HTMLElement): void {
  first.querySelectorAll('table').forEach(sortable);
  const put = <Row>(name: string, columns: Saved<Row>, rows: Row[]) => {
    const table = first.querySelector(`.scroll[aria-label="${name}"]`);
    const body = table?.querySelector('tbody');
    if (!table || !body) return;
    // A table with all rows is saved in the order shown.
    const written = [...body.rows];
    const inOrder = () => (written.length === rows.length ? [...body.rows].map((row) => rows[written.indexOf(row)]!) : rows);
    const tools = el('div', { class: 'tools' });
    table.after(el('div', { class: 'table' }, tools));
    const title = table.closest('section')?.querySelector('h2');
    const fill = () => replace(tools, ...saving(columns, title ? shownText(title) : name, inOrder));
    onLanguage(fill);
    fill();
  };
  switch (page.kind) {
    case 'run': {
      const last: Label | null = page.rest?.row ?? null;
      const rows = last ? [...page.labels, last] : page.labels;
      put('Labels', saved.labels(last, page.rest?.labels ?? 0, page.totals.times), rows);
      break;
    }
    case 'sweep':
      put('Points', saved.points(page), page.points);
      break;
    case 'capacity':
      put('Probes', saved.probes(page), page.probes);
      break;
    case 'comparison':
      put('Changes', saved.changes, page.rows);
      put('Also changed', saved.changed, page.changed);
      break;
  }
}
