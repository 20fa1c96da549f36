// The columns of saved tables, with the same names as in crates/report/src/tables.

import { figures } from '../chart/plot';
import { failedShare } from '../format';
import type { CapacityPage, Cause, Class, Column, ComparisonPage, Criterion, Finding, Label, Num, Quantile, RunPage, Sample, SweepPage, Timeline, Times, Unit, Verdict } from '../model';
import { at, ms, number, type Saved, type Value } from './saved';

type Columns<Row> = [string, (row: Row) => Value][];

const QUANTILES: [number, string][] = [[0.5, 'p50'], [0.9, 'p90'], [0.95, 'p95'], [0.99, 'p99'], [0.999, 'p999']];
const PHASES = ['late', 'room', 'dns', 'connect', 'tls', 'send', 'wait', 'receive', 'lag'];

function quantiles<Row>(of: (row: Row) => Quantile[]): Columns<Row> {
  return QUANTILES.flatMap(([p, name]): Columns<Row> => {
    const one = (row: Row) => of(row).find((found) => found.p === p);
    return [[`${name}_ms`, (row) => ms(one(row)?.us)], [`${name}_low_ms`, (row) => ms(one(row)?.low)], [`${name}_high_ms`, (row) => ms(one(row)?.high)]];
  });
}

function phases<Row>(of: (row: Row) => Num[]): Columns<Row> {
  return PHASES.map((name, n) => [`${name}_ms`, (row) => ms(of(row)[n])]);
}

/** Columns of labels. `rest` is the common row of `others` labels. `times` is the kind of times in the figures. */
export function labels(rest: Label | null, others: number, times: Times): Saved<Label> {
  const service = (row: Label) => row.service ?? row;
  const one = (row: Label, p: number) => ms(service(row).quantiles.find((found) => found.p === p)?.us);
  return {
    name: 'labels',
    columns: [
      ['label', (row) => (row === rest ? `(${others} other labels)` : row.name)], ['kind', (row) => (row === rest ? 'other' : row.transaction ? 'transaction' : 'request')],
      ['folded_labels', (row) => row.folded], ['samples', (row) => row.samples], ['failed', (row) => row.failed],
      ['error_share', (row) => number(failedShare(row))],
      ['requests_succeeded', (row) => row.answers?.requests_succeeded ?? null], ['checked_answers', (row) => row.answers?.checked ?? null], ['answers_as_expected', (row) => row.answers?.as_expected ?? null],
      ['rate_per_s', (row) => number(row.rate_per_s)],
      ['times', () => times], ['mean_ms', (row) => ms(row.mean_us)], ['min_ms', (row) => ms(row.min_us)], ['max_ms', (row) => ms(row.max_us)],
      ...quantiles((row: Label) => row.quantiles),
      ['service_mean_ms', (row) => ms(service(row).mean_us)], ['service_p50_ms', (row) => one(row, 0.5)], ['service_p95_ms', (row) => one(row, 0.95)],
      ['service_p99_ms', (row) => one(row, 0.99)], ['service_max_ms', (row) => ms(service(row).max_us)],
      ['received_bytes', (row) => row.received_bytes], ['sent_bytes', (row) => row.sent_bytes], ['share_of_time', (row) => number(row.share_of_time)],
      ...phases((row: Label) => row.phases),
    ],
  };
}

export function errors(all: number): Saved<Cause> {
  return {
    name: 'errors',
    columns: [
      ['message', (row) => row.message], ['code', (row) => row.code], ['kind', (row) => row.outcome], ['count', (row) => row.count],
      ['share_of_errors', (row) => number(row.count / Math.max(1, all))], ['first_label', (row) => row.first_label],
      ['first_at', (row) => at(row.first_ms)], ['last_at', (row) => at(row.last_ms)],
    ],
  };
}

export function samples(page: RunPage): Saved<Sample> {
  return {
    name: 'samples',
    columns: [
      ['at', (row) => at(row.at_ms)], ['label', (row) => page.labels[row.label]?.name ?? null], ['why', (row) => row.why], ['ok', (row) => row.ok],
      ['elapsed_ms', (row) => ms(row.elapsed_us)], ['code', (row) => row.code], ['message', (row) => row.message], ['address', (row) => row.address], ['trace', (row) => row.trace],
      ...phases((row: Sample) => row.phases),
    ],
  };
}

export const connections: Saved<Class> = {
  name: 'connections',
  columns: [
    ['kind', (row) => row.kind], ['value', (row) => row.value], ['exchanges', (row) => row.exchanges], ['failed', (row) => row.errors],
    ['error_share', (row) => number(row.errors / Math.max(1, row.exchanges))], ['opened', (row) => row.opened], ['p50_ms', (row) => ms(row.p50_us)], ['p95_ms', (row) => ms(row.p95_us)],
  ],
};

export function pairs(name: string): Saved<[string, string]> {
  return { name, columns: [['name', ([key]) => key], ['value', ([, value]) => value]] };
}

export const criteria: Saved<Criterion> = {
  name: 'criteria',
  columns: [
    ['criterion', (row) => row.text], ['label', (row) => row.of], ['outcome', (row) => (row.met === null ? 'undecided' : row.met ? 'met' : 'not met')],
    ['met', (row) => row.met], ['value', (row) => number(row.value)], ['shown', (row) => row.shown.en], ['reason', (row) => row.reason?.en ?? null],
  ],
};

export function findings(of: Verdict): Saved<Finding> {
  return {
    name: 'findings',
    columns: [
      ['finding', (row) => row.id], ['about', (row) => row.about], ['confidence', (row) => row.confidence], ['held_back', (row) => of.hidden.includes(row)],
      ['words', (row) => row.words.en], ['advice', (row) => row.advice.en],
    ],
  };
}

type Point = SweepPage['points'][number];
export function points(page: SweepPage): Saved<Point> {
  return {
    name: 'points',
    columns: [
      [page.axis === 'users' ? 'users' : 'starts_per_s', (row) => number(row.load)], ['in_flight', (row) => number(row.in_flight)],
      ['rate_per_s', (row) => number(row.rate_per_s)], ['rate_low_per_s', (row) => number(row.rate_low)], ['rate_high_per_s', (row) => number(row.rate_high)],
      ['mean_ms', (row) => ms(row.mean_us)], ['mean_low_ms', (row) => ms(row.mean_low)], ['mean_high_ms', (row) => ms(row.mean_high)],
      ...quantiles((row: Point) => row.quantiles),
      ['error_share', (row) => number(row.error_share)], ['length_s', (row) => number(row.length_s)], ['ramp_s', (row) => number(row.ramp_s)], ['warmup_s', (row) => number(row.warmup_s)],
      ['ended_by', (row) => row.stopped_by], ['left_out', (row) => row.excluded?.en ?? null], ['run', (row) => row.run],
    ],
  };
}

export function probes(page: CapacityPage): Saved<CapacityPage['probes'][number]> {
  return {
    name: 'probes',
    columns: [
      [page.axis === 'users' ? 'users' : 'starts_per_s', (row) => number(row.load)], ['kind', (row) => row.kind.en], ['result', (row) => (row.verdict === 'doubtful' ? 'inconclusive' : row.verdict)],
      ['windows_held', (row) => row.good], ['windows_not_held', (row) => row.bad], ['succeeded_per_s', (row) => number(row.rate_per_s)], ['in_flight', (row) => number(row.in_flight)],
      ['p50_ms', (row) => ms(row.p50_us)], ['p99_ms', (row) => ms(row.p99_us)], ['samples', (row) => row.samples], ['length_s', (row) => number(row.length_s)],
      ['ended_by', (row) => row.stopped_by], ['words', (row) => row.words.en], ['run', (row) => row.run],
    ],
  };
}

type Change = ComparisonPage['rows'][number];
export const changes: Saved<Change> = (() => {
  const value = (row: Change, of: number) => (row.unit === 'us' ? ms(of) : number(of));
  return {
    name: 'changes',
    columns: [
      ['label', (row) => row.label], ['metric', (row) => row.metric.en], ['unit', (row) => (row.unit === 'us' ? 'ms' : row.unit)], ['a', (row) => value(row, row.a)], ['b', (row) => value(row, row.b)],
      ['change', (row) => number(row.change)], ['low', (row) => number(row.low)], ['high', (row) => number(row.high)], ['different', (row) => row.different],
      ['worse', (row) => row.different && ((row.change ?? NaN) > 0) === row.more_is_worse], ['floor', (row) => number(row.floor)], ['detectable', (row) => number(row.detectable)],
    ],
  };
})();

export const changed: Saved<ComparisonPage['changed'][number]> = {
  name: 'also-changed', columns: [['what', (row) => row.what.en], ['a', (row) => row.a], ['b', (row) => row.b]],
};

const UNITS: Partial<Record<Unit, string>> = { us: '_ms', s: '_s', '/s': '_per_s', share: '_share', bytes: '_bytes', 'bytes/s': '_bytes_per_s' };

/** Columns over time; a row is the index of an instant. */
export function overTime(name: string, timeline: Timeline, start: number, columns: Column[]): Saved<number> {
  const heading = ({ id, unit, name: said }: Column) => {
    const behind = UNITS[unit] ?? '';
    const full = id.endsWith(behind) ? id : id + behind;
    return /^(cause|watched)\./.test(id) ? `${full} ${said.en}` : full;
  };
  return {
    name,
    columns: [
      ['at', (n) => at(timeline.at_ms[n]!)], ['elapsed_s', (n) => number((timeline.at_ms[n]! - start) / 1000)],
      ...columns.map((column): [string, (n: number) => Value] => {
        const form = column.unit === 'us' ? ms : number;
        let values: Num[] | null = null;
        return [heading(column), (n) => form((values ??= figures(column))[n])];
      }),
    ],
  };
}
