// The page with the runs of a folder, which can be listed, opened, compared, named, tagged and deleted.

import './style/report.css';
import './style/runs.css';
import { chrome } from './chrome';
import { el, replace } from './dom';
import { onLanguage, say, word } from './language';
import { ask, events, Refused } from './live/stream';
import { deleteDialog, nameDialog } from './runs/dialogs';
import type { Compared, Entry, List, Said } from './runs/protocol';
import { keyOf, trends, trendsOf } from './runs/trends';
import { COLUMNS, order, searched, title, type Column } from './runs/rows';

/** Number of rows on a page of the table, which a browser can draw at once. */
const ROWS = 100;

class Runs {
  private entries = new Map<number, Entry>();
  private rows: Entry[] = [];
  private ticked = new Set<number>();
  private by: Column = COLUMNS[1]!;
  private descending = true;
  private from = 0;
  private version = 0;
  private due = false;
  private heads = new Map<string, HTMLTableCellElement>();
  private head = el('tr', null);
  private body = el('tbody', null);
  private pager = el('div', { class: 'pager' });
  private state = el('p', { class: 'note', attr: { role: 'status' } });
  private search = el('input', { attr: { type: 'search' } });
  private actions = el('div', { class: 'actions' });
  private trends = el('div', null);
  /** The key of the displayed trends. */
  private trended = '';
  private readOnly = true;
  private folder = '';

  constructor(private root: HTMLElement) {
    this.search.addEventListener('input', () => { this.from = 0; this.arrange(); });
  }

  /** Builds the whole page in its language. */
  build(): void {
    this.search.placeholder = word('search_runs');
    this.search.setAttribute('aria-label', word('search_runs'));
    document.title = word('runs_of', this.folder);
    this.heads.clear();
    this.trended = '';
    replace(this.head, el('td', { class: 'tick' }, el('span', { class: 'visually-hidden' }, word('chosen'))), ...COLUMNS.map((column) => this.headOf(column)));
    if (!this.readOnly) this.head.append(el('td', { class: 'tick' }, el('span', { class: 'visually-hidden' }, word('name_and_tags'))));
    replace(this.root, el('h1', { class: 'hostile' }, word('runs_of', this.folder)), this.state, this.trends,
      el('div', { class: 'table runs' }, el('div', { class: 'tools' }, this.search, this.actions),
        el('div', { class: 'scroll', attr: { tabindex: 0, role: 'region', 'aria-label': word('runs_of', this.folder) } },
          el('table', null, el('caption', { class: 'visually-hidden' }, word('runs_of', this.folder)), el('thead', null, this.head), this.body)), this.pager));
    this.arrange();
  }

  private headOf(column: Column): HTMLElement {
    const button = el('button', { class: 'sort', attr: { type: 'button' } }, word(column.title));
    const cell = el('th', { attr: { scope: 'col' }, class: column.numeric ? 'n' : '' }, button);
    button.addEventListener('click', () => {
      this.descending = this.by === column ? !this.descending : Boolean(column.numeric) || column.id === 'at';
      this.by = column;
      this.arrange();
    });
    this.heads.set(column.id, cell);
    return cell;
  }

  /** Loads the changes since the last load. */
  async load(): Promise<void> {
    const list = (await (await ask(`/api/runs?since=${this.version}`)).json()) as List;
    if (list.whole) this.entries.clear();
    list.gone.forEach((id) => { this.entries.delete(id); this.ticked.delete(id); });
    list.entries.forEach((entry) => this.entries.set(entry.id, entry));
    this.version = list.version;
    const first = this.folder === '' || this.readOnly !== list.read_only;
    [this.folder, this.readOnly] = [list.folder, list.read_only];
    replace(this.state, list.left > 0 || !list.looked ? word('runs_left', list.left) : '');
    if (first) this.build();
    else this.arrange();
  }

  /** Schedules a load: at most one request and redraw in half a second, however often the list changes. */
  soon(): void {
    if (this.due) return;
    this.due = true;
    setTimeout(() => { this.due = false; this.load().catch((error: unknown) => this.fail(error)); }, this.version === 0 ? 0 : 500);
  }

  connected(is: boolean): void {
    if (is) this.soon();
    else replace(this.state, word('reconnecting_web'));
  }

  private fail(error: unknown): void {
    replace(this.state, error instanceof Refused && error.status === 401 ? word('unauthorized') : word('refused', error instanceof Refused ? error.status : String(error)));
  }

  /** Filters and sorts the rows. */
  private arrange(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...this.entries.values()];
    this.rows = words.length === 0 ? all : all.filter((entry) => { const text = searched(entry); return words.every((one) => text.includes(one)); });
    this.rows.sort(order(this.by, this.descending));
    // Drawing the trends costs more than a row. Most updates of the list do not change them.
    const [found, before] = [trendsOf(this.rows), this.trended];
    this.trended = keyOf(found);
    if (this.trended !== before) replace(this.trends, trends(found));
    this.heads.forEach((cell, id) => cell.setAttribute('aria-sort', id !== this.by.id ? 'none' : this.descending ? 'descending' : 'ascending'));
    this.from = Math.min(this.from, Math.max(0, Math.floor((this.rows.length - 1) / ROWS) * ROWS));
    this.fill();
  }

  private fill(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    const shown = this.rows.slice(this.from, this.from + ROWS);
    const width = COLUMNS.length + (this.readOnly ? 1 : 2);
    replace(this.body, ...(shown.length > 0 ? shown.map((entry) => this.row(entry)) : [el('tr', null, el('td', { class: 'empty', attr: { colspan: width } }, word(this.entries.size > 0 ? 'no_rows' : 'no_runs')))]));
    const step = (text: string, to: number, possible: boolean) => {
      const button = el('button', { class: 'quiet', attr: { type: 'button', disabled: !possible, 'data-key': text } }, text);
      button.addEventListener('click', () => { this.from = to; this.fill(); });
      return button;
    };
    replace(this.pager, ...(this.rows.length > ROWS
      ? [step(word('previous'), this.from - ROWS, this.from > 0), el('span', null, word('page_of', this.from + 1, Math.min(this.from + ROWS, this.rows.length), this.rows.length)), step(word('next'), this.from + ROWS, this.from + ROWS < this.rows.length)]
      : [el('span', null, word('runs_shown', this.rows.length))]));
    this.act();
    // A redrawn row keeps the keyboard focus.
    if (focused) this.root.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  private row(entry: Entry): HTMLElement {
    const tick = el('input', { attr: { type: 'checkbox', 'aria-label': word('choose', title(entry)), 'data-key': `tick-${entry.id}` } });
    tick.checked = this.ticked.has(entry.id);
    tick.addEventListener('change', () => {
      if (tick.checked) this.ticked.add(entry.id);
      else this.ticked.delete(entry.id);
      this.act();
    });
    const cells = COLUMNS.map((column, n) => (n === 0 ? el('th', { attr: { scope: 'row' } }, column.show(entry)) : el('td', { class: column.numeric ? 'n' : column.id }, column.show(entry))));
    cells[0]!.querySelector('a')!.dataset.key = `open-${entry.id}`;
    const line = el('tr', null, el('td', { class: 'tick' }, tick), ...cells);
    if (!this.readOnly) {
      const rename = el('button', { class: 'quiet', attr: { type: 'button', 'aria-label': `${word('name_and_tags')}: ${title(entry)}`, title: word('name_and_tags'), 'data-key': `name-${entry.id}` } }, '✎');
      rename.addEventListener('click', () => nameDialog(entry.folder, entry.note.name, entry.note.tags, (name, tags) => this.post('/api/name', { id: entry.id, name, tags })));
      line.append(el('td', { class: 'tick' }, rename));
    }
    return line;
  }

  /** Updates the buttons for the selected entries. */
  private act(): void {
    const chosen = [...this.ticked].map((id) => this.entries.get(id)).filter((entry): entry is Entry => entry !== undefined);
    const kinds = new Set(chosen.map((entry) => entry.kind));
    const [a, b] = chosen.sort((one, other) => one.at_ms - other.at_ms);
    const can = chosen.length === 2 && kinds.size === 1 && (kinds.has('run') || kinds.has('sweep'));
    const press = (text: string, possible: boolean, act: () => void) => {
      const button = el('button', { attr: { type: 'button', disabled: !possible, 'data-key': text } }, text);
      button.addEventListener('click', act);
      return button;
    };
    const focused = this.actions.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined;
    replace(this.actions,
      el('span', { class: 'note' }, can ? word('compare_order', title(a!), title(b!)) : chosen.length > 0 ? word('ticked', chosen.length) : word('tick_two')),
      press(word('compare'), can, () => void this.compare(a!, b!)),
      this.readOnly ? null : press(word('delete'), chosen.length > 0, () => deleteDialog(chosen.map((entry) => entry.folder), () => this.post('/api/delete', { ids: chosen.map((entry) => entry.id) }))));
    if (focused) this.actions.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  private async compare(a: Entry, b: Entry): Promise<void> {
    replace(this.state, word('comparing'));
    try {
      const path = this.readOnly ? `/api/compare?a=${a.id}&b=${b.id}` : '/api/compare';
      const answer = (await (await ask(path, this.readOnly ? {} : json({ a: a.id, b: b.id }))).json()) as Compared;
      if (answer.ok && answer.address) location.assign(answer.address);
      else replace(this.state, el('span', { class: 'bad hostile' }, answer.words ? say(answer.words) : word('gone')));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Requests a change. Returns a sentence if the server refused it, otherwise null. */
  private async post(path: string, body: unknown): Promise<string | null> {
    try {
      const said = (await (await ask(path, json(body))).json()) as Said;
      // The server may have made a part of the change.
      await this.load();
      if (said.ok) replace(this.state, say(said.words));
      return said.ok ? null : say(said.words);
    } catch (error) {
      return word('refused', error instanceof Refused ? error.status : String(error));
    }
  }
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

async function run(): Promise<void> {
  const root = document.getElementById('pages');
  if (!root) return;
  replace(root, el('p', { class: 'note' }, word('connecting')));
  const runs = new Runs(root);
  chrome(() => undefined);
  onLanguage(() => runs.build());
  try {
    await runs.load();
    await events(() => runs.soon(), (is) => runs.connected(is));
  } catch (error) {
    replace(root, el('p', { class: 'bad' }, error instanceof Refused && error.status === 401 ? word('unauthorized') : String(error)));
  }
}

void run();
