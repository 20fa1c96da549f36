// Tables that can be sorted, paged and saved.

import { el, replace, type Child } from '../dom';
import { word } from '../language';
import { saving, type Saved } from './saved';

type Direction = 'ascending' | 'descending';

export interface Column<Row> {
  id: string;
  title: string;
  numeric?: boolean;
  /** The value that rows are sorted by. */
  value: (row: Row) => number | string | null;
  show?: (row: Row) => Child;
}

interface Table<Row> {
  name: string;
  columns: Column<Row>[];
  rows: Row[];
  /** Number of rows per page. */
  page?: number;
  /** Initial sort column and direction. */
  sort?: [string, Direction];
  /** A row that is always first, whatever the order and the filter. */
  top?: Row | null;
  /** A row that is always last, whatever the order. */
  last?: Row | null;
  filter?: (row: Row) => string;
  below?: (row: Row) => Child;
  /** Columns of the saved file; without it, the table's own columns by their ids, in a file with the name `file`. */
  saved?: Saved<Row>;
  file?: string;
  /** True for a table with many columns: less space, headings in several lines. */
  dense?: boolean;
}

export function table<Row>(of: Table<Row>): HTMLElement {
  const size = of.page ?? 100;
  let [by, direction]: [string | null, Direction] = of.sort ?? [null, 'ascending'];
  let from = 0;
  let wanted = '';
  let rows = of.rows;
  const head = el('tr', null);
  const body = el('tbody', null);
  const pager = el('div', { class: 'pager' });

  const arrange = () => {
    const needle = wanted.toLowerCase();
    rows = needle && of.filter ? of.rows.filter((row) => of.filter!(row).toLowerCase().includes(needle)) : of.rows;
    const column = of.columns.find((one) => one.id === by);
    if (column) {
      const sign = direction === 'ascending' ? 1 : -1;
      rows = [...rows].sort((a, b) => sign * compare(column.value(a), column.value(b)));
    }
    from = Math.min(from, Math.max(0, Math.floor((rows.length - 1) / size) * size));
    fill();
  };
  const fill = () => {
    const shown = [...(of.top ? [of.top] : []), ...rows.slice(from, from + size)];
    if (of.last && from + size >= rows.length) shown.push(of.last);
    replace(body, ...shown.flatMap((row) => {
      const line = el('tr', { class: row === of.top ? 'total' : '' }, ...of.columns.map((column, n) => {
        const text = column.show ? column.show(row) : column.value(row);
        return n === 0 ? el('th', { attr: { scope: 'row' }, class: column.numeric ? 'n' : '' }, text) : el('td', { class: column.numeric ? 'n' : '' }, text);
      }));
      const more = of.below?.(row);
      return more ? [line, el('tr', { class: 'below' }, el('td', { attr: { colspan: of.columns.length } }, more))] : [line];
    }));
    if (rows.length === 0 && !of.last && !of.top) replace(body, el('tr', null, el('td', { attr: { colspan: of.columns.length }, class: 'empty' }, word('no_rows'))));
    const step = (text: string, to: number, possible: boolean) => {
      const button = el('button', { class: 'quiet', attr: { type: 'button', disabled: !possible } }, text);
      button.addEventListener('click', () => { from = to; fill(); });
      return button;
    };
    if (rows.length > size) {
      replace(pager, step(word('previous'), from - size, from > 0), el('span', null, word('page_of', from + 1, Math.min(from + size, rows.length), rows.length)),
        step(word('next'), from + size, from + size < rows.length));
    } else replace(pager);
  };
  for (const column of of.columns) {
    const cell = el('th', { attr: { scope: 'col' }, class: column.numeric ? 'n' : '' }, column.title);
    sorting(cell, by === column.id ? direction : 'none', (to) => { by = column.id; direction = to; arrange(); });
    head.append(cell);
  }
  const tools = el('div', { class: 'tools' });
  if (of.filter && of.rows.length > 8) {
    const field = el('input', { attr: { type: 'search', placeholder: word('filter'), 'aria-label': `${word('filter')}: ${of.name}` } });
    field.addEventListener('input', () => { wanted = field.value; from = 0; arrange(); });
    tools.append(field);
  }
  const saved = of.saved ?? { name: of.file ?? of.name, columns: of.columns.map((column): [string, (row: Row) => number | string | null] => [column.id, column.value]) };
  tools.append(...saving(saved, of.name, () => ([...(of.top ? [of.top] : []), ...rows, ...(of.last ? [of.last] : [])])));
  arrange();
  return el('div', { class: 'table' }, tools,
    el('div', { class: 'scroll', attr: { tabindex: 0, role: 'region', 'aria-label': of.name } }, el('table', { class: of.dense ? 'dense' : '' }, el('caption', { class: 'visually-hidden' }, of.name), el('thead', null, head), body)), pager);
}

/** Makes a heading a button that sorts by its column. The first click puts the largest numbers or the first names on top. */
function sorting(heading: HTMLTableCellElement, now: Direction | 'none', sort: (direction: Direction) => void): void {
  const button = el('button', { class: 'sort', attr: { type: 'button' } }, ...heading.childNodes);
  heading.append(button);
  heading.setAttribute('aria-sort', now);
  button.addEventListener('click', () => {
    const before = heading.getAttribute('aria-sort');
    const first = heading.classList.contains('n') ? 'descending' : 'ascending';
    const direction = before === 'ascending' ? 'descending' : before === 'descending' ? 'ascending' : first;
    heading.parentElement?.querySelectorAll('[aria-sort]').forEach((other) => other.setAttribute('aria-sort', 'none'));
    heading.setAttribute('aria-sort', direction);
    sort(direction);
  });
}

/** Makes a table that Rust has written sortable: by the numbers in `data-value`, otherwise by the texts. Columns of pictures without numbers stay as they are. */
export function sortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  if (!body?.querySelector('[data-value]')) return;
  const value = (row: HTMLTableRowElement, n: number): number | string | null => {
    const cell = row.cells[n]!;
    return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.classList.contains('n') ? null : cell.innerText;
  };
  [...table.tHead?.rows[0]?.cells ?? []].forEach((heading, n) => {
    if (heading.querySelector('.visually-hidden')) return;
    sorting(heading, 'none', (direction) => {
      const sign = direction === 'ascending' ? 1 : -1;
      body.append(...[...body.rows].sort((a, b) => sign * compare(value(a, n), value(b, n))));
    });
  });
}

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
}
