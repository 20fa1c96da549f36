// The tables of JMeter's dashboard. Cells are rounded as on JMeter's page; tooltips and the CSV contain all digits.

import { el, type Child } from '../dom';
import { count } from '../format';
import { say, word } from '../language';
import type { JMeterFigures, StatisticsRow } from '../model';
import { message } from '../parts/message';
import { table, type Column } from '../parts/table';
import type { Sheet } from './page';

/** JSON has neither NaN nor infinity: they are strings, as in JMeter's file. */
type Figure = number | string;

function rounded(value: Figure, places = 2): Child {
  if (typeof value === 'string') return value;
  const text = value.toFixed(places);
  return Number(text) === value ? text : el('span', { title: String(value) }, text);
}

function percent(value: Figure): Child {
  const shown = rounded(value);
  return typeof value === 'string' ? shown : el('span', { title: String(value), class: value > 0 ? 'bad' : '' }, value.toFixed(2), ' %');
}

export function jmeter(sheet: Sheet, of: JMeterFigures): void {
  const [all, failed] = of.requests;
  sheet.add(
    el('p', null, word('jmeter_requests', count(all), count(failed))),
    el('p', { class: 'note' }, of.window === null ? word('jmeter_all') : word('jmeter_window', count(of.window))),
    of.labels > of.statistics.length ? el('p', { class: 'note' }, word('jmeter_most', count(of.statistics.length), count(of.labels))) : null,
    of.notes.length > 0 ? el('ul', { class: 'note' }, ...of.notes.map((note) => el('li', { class: 'hostile' }, say(note)))) : null,
    el('h2', null, word('statistics')), statistics(of),
    el('h2', null, word('apdex')), apdex(of),
  );
  if (of.errors.length > 0) errors(sheet, of);
  const [total, ...rest] = of.top5;
  if (total && (total.errors > 0 || rest.length > 0)) {
    sheet.add(el('h2', null, word('top5')), table({
      name: word('top5'), file: 'jmeter-top5', rows: rest, top: total, filter: (row) => row.label, columns: [
        { id: 'label', title: word('label'), value: (row) => row.label },
        { id: 'samples', title: word('count'), numeric: true, value: (row) => row.samples, show: (row) => count(row.samples) },
        { id: 'errors', title: word('failed'), numeric: true, value: (row) => row.errors, show: (row) => count(row.errors) },
        { id: 'top', title: word('message'), value: (row) => row.top.map(([message, n]) => `${n} × ${message}`).join('; '),
          show: (row) => el('ol', { class: 'lines' }, ...row.top.map(([text, n]) => el('li', null, el('b', null, count(n)), ' × ', message(text)))) },
      ],
    }));
  }
}

function statistics(of: JMeterFigures): HTMLElement {
  const number = (id: keyof StatisticsRow, title: string): Column<StatisticsRow> => ({ id, title, numeric: true, value: (row) => row[id], show: (row) => rounded(row[id]) });
  const whole = (id: keyof StatisticsRow, title: string): Column<StatisticsRow> => ({ ...number(id, title), show: (row) => (typeof row[id] === 'number' ? count(row[id]) : row[id]) });
  return table<StatisticsRow>({
    name: word('statistics'), dense: true, file: 'jmeter-statistics', rows: of.statistics, top: of.total, filter: (row) => row.transaction, columns: [
      { id: 'transaction', title: word('label'), value: (row) => row.transaction },
      whole('sampleCount', word('count')), whole('errorCount', word('failed')),
      { ...number('errorPct', word('error_share')), show: (row) => percent(row.errorPct) },
      number('meanResTime', word('in_ms', word('mean'))), whole('minResTime', word('in_ms', word('min'))), whole('maxResTime', word('in_ms', word('max'))),
      number('medianResTime', word('in_ms', word('median'))),
      ...of.percentages.map((p, n) => number((['pct1ResTime', 'pct2ResTime', 'pct3ResTime'] as const)[n]!, word('in_ms', `p${p}`))),
      number('throughput', word('per_second')), number('receivedKBytesPerSec', word('received_kb')), number('sentKBytesPerSec', word('sent_kb')),
    ],
  });
}

function apdex(of: JMeterFigures): HTMLElement {
  const [total, ...rest] = of.apdex;
  return table({
    name: word('apdex'), file: 'jmeter-apdex', rows: rest, top: total ?? null, filter: (row) => row.label, columns: [
      { id: 'label', title: word('label'), value: (row) => row.label },
      { id: 'apdex', title: word('apdex'), numeric: true, value: (row) => row.apdex, show: (row) => rounded(row.apdex, 3) },
      { id: 'satisfied', title: word('satisfied'), numeric: true, value: (row) => row.satisfied_ms, show: (row) => `${count(row.satisfied_ms)} ms` },
      { id: 'tolerated', title: word('tolerated'), numeric: true, value: (row) => row.tolerated_ms, show: (row) => `${count(row.tolerated_ms)} ms` },
    ],
  });
}

function errors(sheet: Sheet, of: JMeterFigures): void {
  sheet.add(
    el('h2', null, word('errors')),
    of.types > of.errors.length ? el('p', { class: 'note' }, word('jmeter_types', count(of.errors.length), count(of.types))) : null,
    table({
      name: word('errors'), file: 'jmeter-errors', rows: of.errors, filter: (row) => row.message, columns: [
        { id: 'message', title: word('type_of_error'), value: (row) => row.message, show: (row) => message(row.message) },
        { id: 'count', title: word('errors'), numeric: true, value: (row) => row.count, show: (row) => count(row.count) },
        { id: 'errors', title: word('of_errors'), numeric: true, value: (row) => row.of_errors, show: (row) => percent(row.of_errors) },
        { id: 'all', title: word('of_all'), numeric: true, value: (row) => row.of_all, show: (row) => percent(row.of_all) },
      ],
    }),
  );
}
