// The live page: the report of a running test. When the test ends, the page opens the final report.

import 'uplot/dist/uPlot.min.css';
import './style/report.css';
import { chart } from './chart/plot';
import type { Figure } from './chart/frame';
import { chrome } from './chrome';
import { el, replace } from './dom';
import { onLanguage, word } from './language';
import { controls, type Controls } from './live/controls';
import { labels, type Labels } from './live/labels';
import { lamps, numbers, remaining } from './live/now';
import type { Event, Start } from './live/protocol';
import { begin, follow, Refused } from './live/stream';
import { findings } from './pages/findings';
import { Sheet } from './pages/page';
import { charts } from './pages/time';
import { message } from './parts/message';
import { count } from './format';

const MOST = 600;

class Live {
  private figures: Figure[] = [];
  private row = el('dl', { class: 'facts now' });
  private left = el('p', { class: 'remaining' });
  private criteria = el('ul', { class: 'lamps' });
  private verdict = el('section', { class: 'verdict' });
  private errors = el('section', { class: 'errors' });
  private pictures = el('section', { class: 'pictures' });
  private state = el('p', { class: 'note', attr: { role: 'status' } });
  private labels: Labels = labels();
  private controls: Controls | null = null;
  private due = false;
  private over = false;

  constructor(private start: Start, private root: HTMLElement) {
    this.build();
  }

  build(): void {
    const { page, now, read_only } = this.start;
    this.controls = read_only ? null : controls(this.start);
    this.labels = labels();
    replace(this.root, el('h1', { class: 'hostile' }, page.about.title, ' ', el('small', { class: 'tag' }, word('live'))), this.state, this.left, this.row, this.criteria,
      this.controls?.element, this.verdict, this.pictures, this.errors, this.labels.element);
    this.figure(now);
    this.light();
    this.sayVerdict();
    this.sayErrors();
    this.make();
  }

  restart(start: Start): void {
    this.start = start;
    this.build();
  }

  connected(is: boolean): void {
    if (!this.over) replace(this.state, is ? '' : word('reconnecting'));
  }

  take(event: Event, id: number | null): void {
    // After a reload of the data, the page already contains events up to `last_id`.
    if (id !== null && id <= this.start.last_id) return;
    const { page } = this.start;
    switch (event.event) {
      case 'second': {
        const { timeline } = page;
        timeline.at_ms.push(event.data.at_ms);
        timeline.columns.forEach((column, n) => column.values.push(event.data.values[n] ?? null));
        if (timeline.heat && event.data.heat) timeline.heat.counts.push(event.data.heat);
        if (timeline.at_ms.length > 2 * MOST) this.shorten();
        this.start.now = event.data.now;
        this.figure(event.data.now);
        this.light();
        this.controls?.now(event.data.now);
        this.drawSoon();
        break;
      }
      case 'verdict': page.verdict = event.data; this.sayVerdict(); break;
      case 'criteria': page.criteria = event.data; this.light(); break;
      case 'errors': page.causes = event.data.map((cause) => ({ ...cause, counts: [], by_label: [] })); this.sayErrors(); break;
      case 'mark': page.timeline.marks.push(event.data); this.drawSoon(); break;
      case 'again': void begin().then((start) => this.restart(start)); break;
      case 'end': this.end(event.data.report); break;
    }
  }

  /** Shows the current figures. */
  private figure(now: Start['now']): void {
    numbers(this.row, now);
    remaining(this.left, now);
    this.labels.now(now);
  }

  private end(report: string | null): void {
    if (report) location.replace(report);
    this.over = true;
    replace(this.state, word('over'));
    this.controls?.element.remove();
  }

  /** Removes the oldest instants: the page keeps as many as it can draw. */
  private shorten(): void {
    const { timeline } = this.start.page;
    const cut = timeline.at_ms.length - MOST;
    timeline.at_ms.splice(0, cut);
    timeline.columns.forEach((column) => column.values.splice(0, cut));
    timeline.heat?.counts.splice(0, cut);
  }

  /** Updates the lamps of the criteria and of the CPU quota. */
  private light(): void {
    lamps(this.criteria, this.start.page.criteria, this.start.now.quota);
  }

  private sayVerdict(): void {
    replace(this.verdict, el('h2', null, word('verdict')));
    findings(new Sheet(this.verdict), this.start.page.verdict, () => null, false);
  }

  private sayErrors(): void {
    const { causes } = this.start.page;
    replace(this.errors, causes.length > 0 ? el('h2', null, word('errors')) : null, el('ul', { class: 'plain' }, ...causes.slice(0, 10).map((cause) =>
      el('li', null, el('strong', { class: 'bad' }, count(cause.count)), ' ', message(`${cause.code} ${cause.message || cause.outcome} (${cause.first_label})`)))));
  }

  /** Schedules a redraw: at most one per second, and none while the page is hidden. */
  private drawSoon(): void {
    if (this.due) return;
    this.due = true;
    setTimeout(() => { this.due = false; if (!document.hidden) this.draw(); }, 900);
  }

  /** Creates the charts again. */
  make(): void {
    this.figures.forEach((figure) => figure.destroy());
    replace(this.pictures);
    const { timeline } = this.start.page;
    if (timeline.at_ms.length === 0) return;
    this.figures = charts(this.start.page, 'overview').filter((one, at) => at < 4 || one.id.startsWith('series.')).map((one) => chart(timeline, one));
    this.figures.forEach((figure) => { this.pictures.append(figure.element); figure.redraw(); });
  }

  /** Redraws the charts, except those under the cursor, with focus, or shown as a table. */
  draw(): void {
    this.figures.filter(({ element }) => !element.matches(':hover, :focus-within, :has(.plot[hidden])')).forEach((figure) => figure.redraw());
  }
}

async function run(): Promise<void> {
  const root = document.getElementById('pages');
  if (!root) return;
  replace(root, el('p', { class: 'note' }, word('connecting')));
  try {
    const start = await begin();
    const live = new Live(start, root);
    chrome(() => live.make());
    onLanguage(() => live.build());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) live.draw(); });
    document.title = start.page.about.title;
    await follow(start.last_id, (event, id) => live.take(event, id), (connected) => live.connected(connected));
  } catch (error) {
    replace(root, el('p', { class: 'note bad' }, error instanceof Refused && error.status === 401 ? word('unauthorized') : word('refused', String(error))));
  }
}

void run();
