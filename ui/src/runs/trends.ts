// A trend per plan over its runs: the judged time of each run as a small line, with verdicts and versions.

import { el, svg } from '../dom';
import { day, time } from '../format';
import { say, word } from '../language';
import type { Words } from '../model';
import type { Entry } from './protocol';
import { outcome, OUTCOMES, title, type Outcome } from './rows';

/** Largest number of plans with a trend, and of runs in a trend. */
const PLANS = 5;
const RUNS = 60;
const WIDTH = 240;
const HEIGHT = 40;

interface Point { entry: Entry; us: number; verdict: Outcome | 'open' }
interface Trend { plan: string; name: Words; limit_us: number | null; points: Point[] }

/** Returns the trends of the entries: one for each plan with two or more finished runs, the newest first. */
export function trendsOf(entries: Entry[]): Trend[] {
  const plans = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.kind !== 'run' || entry.state !== 'ended' || !entry.plan) continue;
    const runs = plans.get(entry.plan);
    if (runs) runs.push(entry);
    else plans.set(entry.plan, [entry]);
  }
  const newest = (of: Trend) => of.points.at(-1)!.entry.at_ms;
  return [...plans].map(([plan, runs]) => trend(plan, runs)).filter((one) => one.points.length > 1).sort((a, b) => newest(b) - newest(a));
}

/** Builds the trend of a plan. The newest run decides which time is shown; runs without that time have no point. */
function trend(plan: string, runs: Entry[]): Trend {
  const sorted = [...runs].sort((a, b) => a.at_ms - b.at_ms);
  const last = sorted.at(-1)!;
  const name = last.judged?.name ?? { en: 'Response p95', zh: '响应时间 p95' };
  const us = (of: Entry) => (of.judged?.name.en === name.en ? of.judged.us : name.en === 'Response p95' ? of.p95_us : null);
  const points = sorted.flatMap((entry): Point[] => {
    const value = us(entry);
    if (value === null) return [];
    return [{ entry, us: value, verdict: entry.criteria === null ? 'open' : outcome(entry.criteria) }];
  });
  return { plan, name, limit_us: last.judged?.limit_us ?? null, points: points.slice(-RUNS) };
}

/** Returns a text that differs for trends that look different in the same language. */
export function keyOf(all: Trend[]): string {
  const point = ({ entry, us, verdict }: Point) => [entry.id, us, verdict, entry.at_ms, entry.doubtful, entry.program, title(entry)];
  return JSON.stringify([all.length, ...all.slice(0, PLANS).map((of) => [of.plan, of.name.en, of.limit_us, of.points.map(point)])]);
}

/** Shows trends; null if no plan has two runs. */
export function trends(all: Trend[]): HTMLElement | null {
  if (all.length === 0) return null;
  const head = [word('plan_file'), word('trend'), word('newest'), word('to_previous'), word('verdicts'), word('versions')];
  return el('section', { class: 'trends' }, el('h2', null, word('trends')),
    el('div', { class: 'scroll', attr: { tabindex: 0, role: 'region', 'aria-label': word('trends') } }, el('table', { class: 'dense' },
      el('thead', null, el('tr', null, ...head.map((text) => el('th', { attr: { scope: 'col' } }, text)))),
      el('tbody', null, ...all.slice(0, PLANS).map(row)))),
    el('p', { class: 'note' }, word('trends_note'), all.length > PLANS ? ` ${word('trends_more', all.length - PLANS)}` : ''));
}

function row(of: Trend): HTMLElement {
  const [before, last] = of.points.slice(-2) as [Point, Point];
  const change = before.us > 0 ? `${last.us >= before.us ? '+' : '−'}${Math.abs((last.us / before.us - 1) * 100).toFixed(1)} %` : '–';
  const count = (verdict: Point['verdict']) => of.points.filter((point) => point.verdict === verdict).length;
  const verdicts = (['met', 'not_met', 'undecided', 'open'] as const).filter((one) => count(one) > 0)
    .map((one) => el('span', { class: one === 'open' ? 'note' : OUTCOMES[one] }, `${count(one)} ${word(one === 'open' ? 'without_criteria' : one)} `));
  return el('tr', null,
    el('th', { class: 'hostile', attr: { scope: 'row' } }, of.plan, el('small', { class: 'folder' }, word('trend_runs', of.points.length))),
    el('td', { class: 'plot' }, line(of)),
    el('td', { class: 'n' }, time(last.us), el('small', { class: 'folder' }, say(of.name))),
    el('td', { class: 'n' }, change),
    el('td', null, ...verdicts),
    el('td', { class: 'hostile' }, versions(of).join(' → ')));
}

/** Returns the versions of the program in the order of the runs, without repetitions. */
function versions(of: Trend): string[] {
  return of.points.map((point) => point.entry.program ?? '–').filter((version, n, all) => version !== all[n - 1]);
}

/** Draws the runs at equal distances: a line, a dot per run, the limit, and a line where the version changes. */
function line(of: Trend): SVGElement {
  const most = Math.max(...of.points.map((point) => point.us), of.limit_us ?? 0) * 1.08 || 1;
  const x = (n: number) => 6 + (n / (of.points.length - 1)) * (WIDTH - 12);
  const y = (us: number) => HEIGHT - 5 - (us / most) * (HEIGHT - 10);
  const first = of.points[0]!;
  const said = word('trend_of', say(of.name), time(first.us), time(of.points.at(-1)!.us), of.points.length);
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'trend', role: 'img', 'aria-label': said });
  if (of.limit_us !== null) picture.append(svg('line', { x1: 0, x2: WIDTH, y1: y(of.limit_us), y2: y(of.limit_us), class: 'limit' }, svg('title', {}, word('limit', time(of.limit_us)))));
  of.points.forEach((point, n) => {
    const before = of.points[n - 1];
    if (before && before.entry.program !== point.entry.program) {
      const at = (x(n - 1) + x(n)) / 2;
      picture.append(svg('line', { x1: at, x2: at, y1: 0, y2: HEIGHT, class: 'mark' }, svg('title', {}, `${before.entry.program ?? '–'} → ${point.entry.program ?? '–'}`)));
    }
  });
  picture.append(svg('polyline', { points: of.points.map((point, n) => `${x(n)},${y(point.us)}`).join(' '), class: 'line' }));
  of.points.forEach((point, n) => {
    const state = point.verdict === 'open' ? '' : `, ${word(point.verdict)}`;
    picture.append(svg('circle', { cx: x(n), cy: y(point.us), r: of.points.length > 30 ? 2.2 : 3.5, class: `${point.verdict}${point.entry.doubtful ? ' doubtful' : ''}` },
      svg('title', {}, `${title(point.entry)}, ${day(point.entry.at_ms)}: ${time(point.us)}${state}`)));
  });
  return picture;
}
