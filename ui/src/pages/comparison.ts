// The page of changes: all rows of a comparison. Its first screen has the largest changes, the pictures and the warnings.

import { el } from '../dom';
import { figure } from '../format';
import { say, word } from '../language';
import type { ComparisonPage } from '../model';
import * as saved from '../parts/columns';
import { table } from '../parts/table';
import type { Sheet } from './page';

type Row = ComparisonPage['rows'][number];

function sign(value: number, places: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(places)}`;
}

function verdict(row: Row, moved: (value: number | null, row: Row) => string): HTMLElement {
  if (row.different) return el('strong', { class: row.more_is_worse === null ? '' : ((row.change ?? 0) > 0) === row.more_is_worse ? 'bad' : 'good' }, say(row.state));
  return el('span', { title: row.detectable === null ? '' : `${word('detectable')}: ± ${moved(row.detectable, row).replace('+', '')}` }, say(row.state));
}

export function comparison(sheet: Sheet, page: ComparisonPage): void {
  const moved = (value: number | null, row: Row) =>
    (value === null ? '–' : row.unit === 'share' ? word('points_of', sign(value * 100, 2)) : `${sign(value * 100, 1)} %`);
  sheet.add(table<Row>({
    name: word('change'), saved: saved.changes, rows: page.rows, filter: (row) => `${row.label ?? ''} ${say(row.metric)}`, columns: [
      { id: 'label', title: word('label'), value: (row) => row.label ?? word('total') },
      { id: 'metric', title: word('metric'), value: (row) => say(row.metric) },
      { id: 'a', title: word('run_a'), numeric: true, value: (row) => row.a, show: (row) => figure(row.a, row.unit) },
      { id: 'b', title: word('run_b'), numeric: true, value: (row) => row.b, show: (row) => figure(row.b, row.unit) },
      { id: 'change', title: word('change'), numeric: true, value: (row) => row.change, show: (row) => moved(row.change, row) },
      { id: 'interval', title: '95 %', numeric: true, value: (row) => row.low, show: (row) => (row.low === null ? '–' : `${moved(row.low, row)} … ${moved(row.high, row)}`) },
      { id: 'verdict', title: word('verdict'), value: (row) => (row.different ? 2 : row.small ? 1 : 0), show: (row) => verdict(row, moved) },
    ],
  }));
}
