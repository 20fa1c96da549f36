// The page of labels: the table of all labels, and one label in detail.

import { lines } from '../chart/plot';
import { histogram, percentiles } from '../chart/small';
import { figures } from '../chart/plot';
import { el, type Child } from '../dom';
import { bytes, count, cutShare, digits, failedShare, maxOf, meanOf, share, time, timed } from '../format';
import { say, word } from '../language';
import type { Label, Quantile, RunPage } from '../model';
import * as saved from '../parts/columns';
import { phaseBar, phaseKey } from '../parts/phases';
import { table, type Column } from '../parts/table';
import type { Sheet } from './page';
import { sampleTable } from './samples';

function quantile(label: Label, p: number): Quantile | undefined {
  return label.quantiles.find((one) => Math.abs(one.p - p) < 1e-9);
}

const percent = (of: Quantile): string => `p${digits(of.p * 100, 4)}`;

/** Returns the mean service time, which is the sum of the phases. */
const elapsedOf = (of: Label): number => of.service?.mean_us ?? of.mean_us;

/** Returns those service times that differ from the response times as displayed. */
function service(of: Label): [string, number][] {
  if (!of.service) return [];
  const all = of.service.quantiles.map((one): [string, number, number] => [timed('service', percent(one)), one.us, quantile(of, one.p)?.us ?? one.us]);
  return [[meanOf('service'), of.service.mean_us, of.mean_us] as [string, number, number], ...all]
    .filter(([, us, judged]) => time(us) !== time(judged)).map(([name, us]) => [name, us]);
}

/** Shows a percentile, in grey if there are too few samples for an interval. */
export function shown(of: Quantile | undefined): Child {
  if (!of) return '–';
  const text = of.low !== null && of.high !== null ? word('interval', time(of.low), time(of.high)) : word('few');
  return el('span', { class: of.enough ? '' : 'few', title: text }, time(of.us));
}

export function labels(sheet: Sheet, page: RunPage, argument: string): void {
  const index = argument === '' ? -1 : Number(argument);
  const one = page.labels[index];
  if (one) {
    label(sheet, page, index, one);
    return;
  }
  const indices = new Map(page.labels.map((row, n) => [row, n]));
  const name = (row: Label): Child => {
    const at = indices.get(row);
    const text = at === undefined ? el('em', null, row.name) : el('a', { attr: { href: `#labels/${at}` } }, row.name);
    return el('span', null, text, row.transaction ? el('small', { class: 'tag' }, word('transaction')) : null,
      row.folded > 0 ? el('small', { class: 'tag' }, word('folded', count(row.folded))) : null);
  };
  const { times } = page.totals;
  const p = (of: number, id: string): Column<Label> => ({ id, title: timed(times, id), numeric: true, value: (row) => quantile(row, of)?.us ?? null, show: (row) => shown(quantile(row, of)) });
  const last = page.rest ? { ...page.rest.row, name: word('rest', count(page.rest.labels)) } : null;
  sheet.add(
    page.rest ? el('p', { class: 'note' }, word('rest_note', count(page.labels.length), count(page.rest.labels))) : null,
    page.labels.some((row) => row.transaction) ? el('p', { class: 'note' }, word('transaction_time')) : null,
    table<Label>({
      name: word('labels'),
      rows: page.labels,
      last,
      saved: saved.labels(last, page.rest?.labels ?? 0, times),
      dense: true,
      sort: ['share', 'descending'],
      filter: (row) => row.name,
      columns: [
        { id: 'name', title: word('label'), value: (row) => row.name, show: name },
        { id: 'count', title: word('count'), numeric: true, value: (row) => row.samples, show: (row) => count(row.samples) },
        { id: 'errors', title: word('error_share'), numeric: true, value: failedShare, show: (row) => el('span', { class: row.failed ? 'bad' : '' }, row.failed === null ? word('unknown') : share(failedShare(row))) },
        ...(page.labels.some(expected) ? [{ id: 'as_expected', title: word('as_expected'), numeric: true, value: (row: Label) => expected(row)?.share ?? null, show: (row: Label) => { const of = expected(row); return of ? el('span', { class: of.share < 1 ? 'bad' : '' }, cutShare(of.share)) : '–'; } }] : []),
        { id: 'rate', title: word('rate'), numeric: true, value: (row) => row.rate_per_s, show: (row) => `${digits(row.rate_per_s)}/s` },
        { id: 'mean', title: meanOf(times), numeric: true, value: (row) => row.mean_us, show: (row) => time(row.mean_us) },
        p(0.5, 'p50'), p(0.9, 'p90'), p(0.95, 'p95'), p(0.99, 'p99'),
        { id: 'max', title: maxOf(times), numeric: true, value: (row) => row.max_us, show: (row) => time(row.max_us) },
        { id: 'received', title: word('received'), numeric: true, value: (row) => row.received_bytes, show: (row) => bytes(row.received_bytes) },
        // A transaction has no share of the time; it is sorted by its total time.
        { id: 'share', title: word('share_of_time'), numeric: true, value: (row) => elapsedOf(row) * row.samples, show: (row) => share(row.share_of_time) },
        ...(page.about.has.phases ? [{ id: 'phases', title: word('phases'), value: () => null, show: (row: Label) => phaseBar(row.phases, elapsedOf(row)) }] : []),
      ],
    }),
    page.about.has.phases ? phaseKey() : null,
  );
}

/** Returns the share of checked responses as expected; null if no response is known to have been checked. */
function expected(of: Label): { share: number; checked: number } | null {
  const { answers } = of;
  return answers?.checked ? { share: (answers.as_expected ?? 0) / answers.checked, checked: answers.checked } : null;
}

function facts(of: Label): [string, string][] {
  const found = expected(of);
  if (!of.answers || !found) return [];
  return [[word('requests_succeeded'), count(of.answers.requests_succeeded)], [word('as_expected'), `${cutShare(found.share)} ${word('of_checked', count(found.checked))}`]];
}

function label(sheet: Sheet, page: RunPage, index: number, of: Label): void {
  const { times } = page.totals;
  const fact = (name: string, value: Child) => el('div', null, el('dt', null, name), el('dd', null, value));
  sheet.add(
    el('p', null, el('a', { attr: { href: '#labels' } }, `← ${word('back_to_labels')}`)),
    el('h2', { class: 'hostile' }, of.name),
    el('dl', { class: 'facts' }, fact(word('count'), count(of.samples)), fact(word('failed'), of.failed === null ? word('unknown') : count(of.failed)), ...facts(of).map(([name, value]) => fact(name, value)), fact(word('rate'), `${digits(of.rate_per_s)}/s`),
      fact(meanOf(times), time(of.mean_us)), ...of.quantiles.map((q) => fact(timed(times, percent(q)), shown(q))), fact(maxOf(times), time(of.max_us)),
      ...service(of).map(([name, us]) => fact(name, time(us))),
      fact(word('share_of_time'), share(of.share_of_time))),
  );
  if (of.phases.some((us) => (us ?? 0) > 0)) {
    const named = of.phases.map((us, n) => ({ us, n })).filter(({ us, n }) => (us ?? 0) > 0 && n > 0 && n < 8);
    sheet.add(el('figure', { class: 'chart' }, el('h2', null, word('phases')), phaseBar(of.phases, elapsedOf(of)), phaseKey(),
      el('figcaption', null, named.map(({ us, n }) => `${word((['phase_late', 'phase_room', 'phase_dns', 'phase_connect', 'phase_tls', 'phase_send', 'phase_wait', 'phase_receive'] as const)[n]!)} ${time(us)}`).join(', '))));
  }
  overTime(sheet, page, of);
  const said = word(times);
  if (of.distribution) {
    const caption = word('distribution_caption', said, time(quantile(of, 0.5)?.us ?? null));
    sheet.add(el('figure', { class: 'chart' }, el('h2', null, word('distribution', said)), histogram(`${word('distribution', said)}. ${caption}`, of.distribution.edges_us, of.distribution.counts, time), el('figcaption', null, caption)));
  }
  if (of.tail) {
    sheet.add(el('figure', { class: 'chart' }, el('h2', null, word('tail')),
      percentiles(word('tail'), of.tail.p.map((p) => 1 / Math.max(1e-9, 1 - p)), of.tail.us, tailAxis, time),
      el('figcaption', null, word('tail_caption', said))));
  }
  const own = page.samples.filter((sample) => sample.label === index);
  if (own.length > 0) sheet.add(el('h2', null, word('samples')), sampleTable(page, own));
}

/** Formats a value x = 1/(1 − p) of the axis as the percentile p. */
function tailAxis(x: number): string {
  return `p${digits((1 - 1 / x) * 100, 6)}`;
}

function overTime(sheet: Sheet, page: RunPage, of: Label): void {
  const columns = of.columns.map((id) => page.timeline.columns.find((column) => column.id === id)).filter((column) => column !== undefined);
  for (const inTime of [true, false]) {
    const chosen = columns.filter((column) => (column.unit === 'us') === inTime);
    if (chosen.length === 0) continue;
    const first = figures(chosen[0]!);
    const known = first.filter((value): value is number => value !== null);
    const reading = inTime ? time : (value: number | null) => `${digits(value ?? 0)}/s`;
    const caption = known.length === 0 ? '' : word('label_caption', say(chosen[0]!.name), reading(Math.min(...known)), reading(Math.max(...known)));
    sheet.chart(lines({
      id: inTime ? 'label-time' : 'label-rate', title: inTime ? word('label_time', word(page.totals.times)) : word('label_rate'), caption, timeline: page.timeline,
      series: chosen.map((column) => ({ name: say(column.name), unit: column.unit, values: figures(column) })), log: false, bands: [], columns: chosen,
    }));
  }
}
