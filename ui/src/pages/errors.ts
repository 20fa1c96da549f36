// The page of errors: by cause, by label, over the run.

import { el, svg } from '../dom';
import { clock, count, share } from '../format';
import { word } from '../language';
import type { Cause, RunPage } from '../model';
import * as saved from '../parts/columns';
import { message } from '../parts/message';
import { table } from '../parts/table';
import type { Sheet } from './page';

export function errors(sheet: Sheet, page: RunPage): void {
  if (page.causes.length === 0) {
    sheet.add(el('p', null, word(page.totals.failed === null ? 'errors_unknown' : 'no_errors')));
    return;
  }
  const all = page.causes.reduce((sum, cause) => sum + cause.count, 0);
  sheet.add(table<Cause>({
    name: word('errors'),
    rows: page.causes,
    saved: saved.errors(all),
    sort: ['count', 'descending'],
    filter: (row) => `${row.code} ${row.message} ${row.first_label}`,
    columns: [
      { id: 'message', title: word('message'), value: (row) => row.message, show: (row) => message(row.message || row.outcome) },
      { id: 'code', title: word('code'), value: (row) => row.code },
      { id: 'kind', title: word('kind'), value: (row) => row.outcome },
      { id: 'count', title: word('count'), numeric: true, value: (row) => row.count, show: (row) => count(row.count) },
      { id: 'share', title: word('of_errors'), numeric: true, value: (row) => row.count / all, show: (row) => share(row.count / all) },
      { id: 'label', title: word('first_label'), value: (row) => row.first_label },
      { id: 'first', title: word('first'), numeric: true, value: (row) => row.first_ms, show: (row) => clock(row.first_ms) },
      { id: 'last', title: word('last'), numeric: true, value: (row) => row.last_ms, show: (row) => clock(row.last_ms) },
      { id: 'run', title: word('over_run'), value: () => null, show: (row) => course(row.counts, `${clock(row.first_ms)} – ${clock(row.last_ms)}`) },
    ],
    below: (row) => (row.by_label.length > 1 ? el('details', null, el('summary', null, word('labels')),
      el('ul', null, ...[...row.by_label].sort((a, b) => b[1] - a[1]).map(([label, n]) => el('li', null, el('span', { class: 'hostile' }, page.labels[label]?.name ?? '–'), `: ${count(n)}`)))) : null),
  }));
}

/** Draws the number of errors over the run as at most 60 bars. */
function course(counts: number[], title: string): SVGElement {
  const size = Math.max(1, Math.ceil(counts.length / 60));
  const bars: number[] = [];
  for (let at = 0; at < counts.length; at += size) bars.push(counts.slice(at, at + size).reduce((sum, n) => sum + n, 0));
  const most = Math.max(1, ...bars);
  const picture = svg('svg', { viewBox: `0 0 ${Math.max(1, bars.length) * 2} 16`, class: 'course', role: 'img', 'aria-label': title, preserveAspectRatio: 'none' }, svg('title', {}, title));
  bars.forEach((n, i) => { if (n > 0) picture.append(svg('rect', { x: i * 2, y: 16 - Math.max(1, (n / most) * 16), width: 1.6, height: Math.max(1, (n / most) * 16), class: 'fill bad-fill' })); });
  return picture;
}
