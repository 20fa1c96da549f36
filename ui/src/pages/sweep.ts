// The pages of a sweep, of a search for capacity, and of a comparison.

import { curves, key, type Points } from '../chart/small';
import { el } from '../dom';
import { digits, figure, meanOf, share, time, timed } from '../format';
import { say, word } from '../language';
import type { CapacityPage, ComparisonPage, SweepPage } from '../model';
import * as saved from '../parts/columns';
import { table } from '../parts/table';
import { tailAxis } from './labels';
import type { Sheet } from './page';

type Point = SweepPage['points'][number];

export function sweep(sheet: Sheet, page: SweepPage): void {
  const axis = word(page.axis === 'users' ? 'users' : 'starts');
  const p = (point: Point, q: number) => point.quantiles.find((one) => Math.abs(one.p - q) < 1e-9) ?? null;
  const x = page.points.map((point) => point.load);
  const rate: Points[] = [{
    label: word('rate'), x, y: page.points.map((point) => point.rate_per_s), low: page.points.map((point) => point.rate_low), high: page.points.map((point) => point.rate_high),
    hollow: page.points.map((point) => point.excluded !== null), join: page.model.curve.length > 0 ? 'dashed' : 'line',
  }];
  if (page.model.curve.length > 0) {
    rate[0] = { ...rate[0]! };
    delete rate[0].join;
    rate.push({ label: `${word('model')}: ${page.model.name}`, x: page.model.curve.map(([at]) => at), y: page.model.curve.map(([, value]) => value), join: 'line', dots: false });
  }
  const response = [0.5, 0.95, 0.99].map((q): Points => ({ label: timed('response', `p${q * 100}`), x, y: page.points.map((point) => p(point, q)?.us ?? null), low: page.points.map((point) => p(point, q)?.low ?? null), high: page.points.map((point) => p(point, q)?.high ?? null), join: 'line' }));
  const wide = Math.max(...x) / Math.max(1e-9, Math.min(...x)) >= 20;
  const plain = (value: number) => digits(value);
  sheet.add(
    el('figure', { class: 'chart' }, el('h2', null, word('throughput')), curves(word('throughput'), rate, plain, (y) => `${digits(y)}/s`, { logX: wide }), key(rate.map((one) => one.label)), el('figcaption', null, say(page.caption))),
    el('figure', { class: 'chart' }, el('h2', null, word('response_by_load')), curves(word('response_by_load'), response, plain, time, { logX: wide, logY: true }), key(response.map((one) => one.label)), el('figcaption', null, say(page.model.words))),
    el('h2', null, word('points')),
    table<Point>({
      name: word('points'), saved: saved.points(page), rows: page.points, columns: [
        { id: 'load', title: axis, numeric: true, value: (row) => row.load, show: (row) => digits(row.load) },
        { id: 'flight', title: word('in_flight'), numeric: true, value: (row) => row.in_flight, show: (row) => digits(row.in_flight) },
        { id: 'rate', title: word('rate'), numeric: true, value: (row) => row.rate_per_s, show: (row) => el('span', { title: row.rate_low !== null && row.rate_high !== null ? word('interval', digits(row.rate_low), digits(row.rate_high)) : word('few') }, `${digits(row.rate_per_s)}/s`) },
        { id: 'mean', title: meanOf('response'), numeric: true, value: (row) => row.mean_us, show: (row) => time(row.mean_us) },
        ...[0.5, 0.95, 0.99].map((q) => ({ id: `p${q}`, title: timed('response', `p${q * 100}`), numeric: true, value: (row: Point) => p(row, q)?.us ?? null, show: (row: Point) => time(p(row, q)?.us ?? null) })),
        { id: 'errors', title: word('error_share'), numeric: true, value: (row) => row.error_share, show: (row) => share(row.error_share) },
        { id: 'length', title: word('length'), numeric: true, value: (row) => row.length_s, show: (row) => `${digits(row.length_s)} s` },
        { id: 'warm', title: word('warmup'), numeric: true, value: (row) => row.warmup_s, show: (row) => (row.warmup_s > 0 ? `${digits(row.warmup_s)} s` : '–') },
        { id: 'by', title: word('stopped_by'), value: (row) => row.stopped_by, show: (row) => word(`stopped_${row.stopped_by}`) },
        { id: 'out', title: word('model'), value: (row) => (row.excluded ? say(row.excluded) : ''), show: (row) => (row.excluded ? `${word('excluded')}: ${say(row.excluded)}` : '') },
      ],
    }),
  );
}

type Probe = CapacityPage['probes'][number];

export function capacity(sheet: Sheet, page: CapacityPage): void {
  const axis = word(page.axis === 'users' ? 'users' : 'starts');
  const series = (['good', 'bad', 'doubtful'] as const).map((verdict): Points => ({
    label: word(verdict), x: page.probes.map((_, n) => n + 1), y: page.probes.map((probe) => (probe.verdict === verdict ? probe.load : null)),
  }));
  const judged = page.judged;
  const name = judged ? say(judged.name) : timed('response', 'p99');
  const order = [...page.probes].sort((a, b) => a.load - b.load);
  const us = (probe: Probe) => { const value = judged ? probe.judged_us : probe.p99_us; return value !== null && value > 0 ? value : null; };
  const byLoad = (['good', 'bad', 'doubtful'] as const).map((verdict): Points => ({
    label: word(verdict), x: order.map((probe) => probe.load), y: order.map((probe) => (probe.verdict === verdict ? us(probe) : null)), hollow: order.map(() => verdict !== 'good'),
  }));
  const limit = judged ? word('limit', time(judged.limit_us)) : undefined;
  const title = word('by_load', name);
  sheet.add(
    order.every((probe) => us(probe) === null) ? null : el('figure', { class: 'chart' }, el('h2', { class: 'hostile' }, title), curves(title, byLoad, (x) => digits(x), time, { logX: true, logY: true, limit: judged?.limit_us }), key(byLoad.map((one) => one.label), limit), el('figcaption', null, word('by_load_caption', axis))),
    el('figure', { class: 'chart' }, el('h2', null, word('ladder')), curves(word('ladder'), series, (n) => (Number.isInteger(n) ? String(n) : ''), (y) => digits(y), { logY: true }), key(series.map((one) => one.label)), el('figcaption', null, say(page.caption))),
    el('p', null, say(page.limited_by)),
    el('h2', null, word('probes')),
    table<Probe>({
      name: word('probes'), saved: saved.probes(page), rows: page.probes, columns: [
        { id: 'load', title: axis, numeric: true, value: (row) => row.load, show: (row) => digits(row.load) },
        { id: 'kind', title: word('kind'), value: (row) => say(row.kind) },
        { id: 'verdict', title: word('verdict'), value: (row) => row.verdict, show: (row) => el('span', { class: row.verdict === 'bad' ? 'bad' : '' }, word(row.verdict)) },
        { id: 'good', title: word('windows_good'), numeric: true, value: (row) => row.good },
        { id: 'bad', title: word('windows_bad'), numeric: true, value: (row) => row.bad },
        { id: 'rate', title: word('rate'), numeric: true, value: (row) => row.rate_per_s, show: (row) => `${digits(row.rate_per_s)}/s` },
        { id: 'flight', title: word('in_flight'), numeric: true, value: (row) => row.in_flight, show: (row) => digits(row.in_flight) },
        { id: 'p50', title: timed('response', 'p50'), numeric: true, value: (row) => row.p50_us, show: (row) => time(row.p50_us) },
        { id: 'p99', title: timed('response', 'p99'), numeric: true, value: (row) => row.p99_us, show: (row) => time(row.p99_us) },
        { id: 'samples', title: word('count'), numeric: true, value: (row) => row.samples },
        { id: 'length', title: word('length'), numeric: true, value: (row) => row.length_s, show: (row) => `${digits(row.length_s)} s` },
        { id: 'words', title: word('result'), value: (row) => say(row.words) },
      ],
    }),
  );
}

type Row = ComparisonPage['rows'][number];

function sign(value: number, places: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(places)}`;
}

function verdict(row: Row, moved: (value: number | null, row: Row) => string): HTMLElement {
  if (row.different) return el('strong', { class: row.more_is_worse === null ? '' : ((row.change ?? 0) > 0) === row.more_is_worse ? 'bad' : 'good' }, word('different'));
  if (row.open) return el('span', null, say(row.open));
  if (row.small) return el('span', null, word('small_change'));
  return el('span', { title: row.detectable === null ? '' : `${word('detectable')}: ± ${moved(row.detectable, row).replace('+', '')}` }, row.low === null ? word('few') : word('same'));
}

export function comparison(sheet: Sheet, page: ComparisonPage): void {
  const moved = (value: number | null, row: Row) =>
    (value === null ? '–' : row.unit === 'share' ? word('points_of', sign(value * 100, 2)) : `${sign(value * 100, 1)} %`);
  if (page.validity.length > 0) sheet.add(el('h2', null, word('validity')), el('ul', null, ...page.validity.map((doubt) => el('li', { class: 'hostile' }, say(doubt.words)))));
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
  if (page.notes.length > 0) sheet.add(...page.notes.map((note) => el('p', { class: 'note hostile' }, say(note))));
  if (page.loads) {
    const { name, at, limit } = page.loads;
    const series: Points[] = [{ label: word('run_a'), x: at.map((one) => one.load), y: at.map((one) => one.a_us), join: 'line' }, { label: word('run_b'), x: at.map((one) => one.load), y: at.map((one) => one.b_us), join: 'line' }];
    if (limit !== null) series.push({ label: word('limit', `A ${sign(limit * 100, 1)} %`), x: at.map((one) => one.load), y: at.map((one) => one.a_us * (1 + limit)), join: 'dashed', dots: false });
    const title = word('by_load', say(name));
    sheet.add(el('figure', { class: 'chart' }, el('h2', null, title), curves(title, series, (x) => digits(x), time), key(series.map((one) => one.label))));
  }
  for (const tail of page.tails) {
    const axis = tail.p.map((p) => 1 / Math.max(1e-9, 1 - p));
    const series: Points[] = [{ label: word('run_a'), x: axis, y: tail.a_us, join: 'line', dots: false }, { label: word('run_b'), x: axis, y: tail.b_us, join: 'dashed', dots: false }];
    sheet.add(el('figure', { class: 'chart' }, el('h2', { class: 'hostile' }, `${word('tails')}: ${tail.label ?? word('total')}`), curves(word('tails'), series, tailAxis, time, { logX: true, logY: true }), key(series.map((one) => one.label)), el('figcaption', null, word('tail_caption', word(page.times)))));
  }
  if (page.changed.length > 0) {
    sheet.add(el('h2', null, word('changed')), table({ name: word('changed'), saved: saved.changed, rows: page.changed, columns: [
      { id: 'what', title: word('metric'), value: (row) => say(row.what) }, { id: 'a', title: word('run_a'), value: (row) => row.a }, { id: 'b', title: word('run_b'), value: (row) => row.b }] }));
  }
}
