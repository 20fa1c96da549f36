// The pages with charts over time: the run, the generator, the targets, the connections.

import { heat } from '../chart/heat';
import { chart } from '../chart/plot';
import { el } from '../dom';
import { count, share, time, timed } from '../format';
import { word } from '../language';
import type { Chart, RunPage } from '../model';
import * as saved from '../parts/columns';
import { table } from '../parts/table';
import type { Sheet } from './page';

export function charts(page: RunPage, name: Chart['page']): Chart[] {
  return page.timeline.charts.filter((one) => one.page === name || (name === 'time' && one.page === 'overview'));
}

function show(sheet: Sheet, page: RunPage, name: Chart['page']): void {
  sheet.add(el('p', { class: 'note' }, word('drag')));
  for (const one of charts(page, name)) sheet.chart(chart(page.timeline, one));
}

export function overTime(sheet: Sheet, page: RunPage): void {
  show(sheet, page, 'time');
  if (page.timeline.heat) sheet.chart(heat(page.timeline, page.timeline.heat));
}

export function generator(sheet: Sheet, page: RunPage): void {
  show(sheet, page, 'generator');
}

export function targets(sheet: Sheet, page: RunPage): void {
  show(sheet, page, 'targets');
}

export function connections(sheet: Sheet, page: RunPage): void {
  show(sheet, page, 'connections');
  if (page.classes.length === 0) return;
  sheet.add(table({
    name: word('connections'),
    rows: page.classes,
    saved: saved.connections,
    sort: ['exchanges', 'descending'],
    filter: (row) => row.value,
    columns: [
      { id: 'value', title: word('value'), value: (row) => row.value },
      { id: 'kind', title: word('kind'), value: (row) => row.kind },
      { id: 'exchanges', title: word('exchanges'), numeric: true, value: (row) => row.exchanges, show: (row) => count(row.exchanges) },
      { id: 'errors', title: word('error_share'), numeric: true, value: (row) => row.errors / Math.max(1, row.exchanges), show: (row) => share(row.errors / Math.max(1, row.exchanges)) },
      { id: 'opened', title: word('opened'), numeric: true, value: (row) => row.opened, show: (row) => count(row.opened) },
      { id: 'p50', title: timed('service', 'p50'), numeric: true, value: (row) => row.p50_us, show: (row) => time(row.p50_us) },
      { id: 'p95', title: timed('service', 'p95'), numeric: true, value: (row) => row.p95_us, show: (row) => time(row.p95_us) },
    ],
  }));
}
