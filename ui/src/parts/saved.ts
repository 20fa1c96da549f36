// Tables as CSV and JSON, byte for byte as `throng report --tables` writes them (crates/report/src/tables.rs). The
// files are created within the page; no data leaves it.

import { el, replace } from '../dom';
import { word } from '../language';

export type Value = string | number | boolean | null;
/** A table to save: its name and its columns, which are the same in every language. */
export interface Saved<Row> {
  name: string;
  columns: [string, (row: Row) => Value][];
}

/** Rounds a number to six decimals. */
export function number(value: number | null | undefined): number | null {
  return rounded(value, 1e6);
}

/** Converts µs to ms. */
export function ms(us: number | null | undefined): number | null {
  return rounded(us == null ? us : us / 1000, 1e3);
}

export function at(epoch: number): string {
  return new Date(epoch).toISOString();
}

function rounded(value: number | null | undefined, scale: number): number | null {
  if (value == null || !Number.isFinite(value)) return null;
  return Math.sign(value) * (Math.round(Math.abs(value) * scale) / scale) + 0;
}

/** First characters of a text that spreadsheets take for a formula or skip before one. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Encodes a CSV cell. A text that a spreadsheet would take for a formula is prefixed with an apostrophe. */
function cell(value: Value): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(value) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv<Row>(of: Saved<Row>, rows: Row[]): string {
  const lines = [of.columns.map(([name]) => cell(name)), ...rows.map((row) => of.columns.map(([, value]) => cell(value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

export function json<Row>(of: Saved<Row>, rows: Row[]): string {
  const line = (row: Row) => `\n{${of.columns.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value(row))}`).join(',')}}`;
  return `[${rows.map(line).join(',')}\n]\n`;
}

/** Creates buttons that copy and save the current rows of a table. */
export function saving<Row>(of: Saved<Row>, name: string, rows: () => Row[]): HTMLElement[] {
  const copy = quiet(word('copy'), null);
  copy.addEventListener('click', () => {
    const done = () => { replace(copy, word('copied')); setTimeout(() => replace(copy, word('copy')), 2000); };
    // Without access to the clipboard, a file is saved instead.
    (navigator.clipboard?.writeText(csv(of, rows())) ?? Promise.reject(new Error())).then(done, () => save(`${of.name}.csv`, 'text/csv', csv(of, rows())));
  });
  const asCsv = quiet(word('save_csv'), `${word('save_csv')}: ${name}`);
  asCsv.addEventListener('click', () => save(`${of.name}.csv`, 'text/csv', csv(of, rows())));
  const asJson = quiet(word('save_json'), `${word('save_json')}: ${name}`);
  asJson.addEventListener('click', () => save(`${of.name}.json`, 'application/json', json(of, rows())));
  return [copy, asCsv, asJson];
}

function quiet(text: string, label: string | null): HTMLElement {
  return el('button', { class: 'quiet', attr: { type: 'button', 'aria-label': label } }, text);
}

function save(name: string, type: string, text: string): void {
  const link = el('a', { attr: { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name } });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
