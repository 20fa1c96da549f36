// Small SVG charts: bars, curves over load, intervals. They print sharply and need no canvas.

import { el, svg } from '../dom';
import type { Num } from '../model';

const WIDTH = 720;
const HEIGHT = 240;
const LEFT = 64;
const BOTTOM = 28;

export interface Axis { value: (x: number) => number; ticks: [number, string][] }

/** Returns a function that maps values between `low` and `high` to positions, on a linear or logarithmic scale. */
export function scale(low: number, high: number, from: number, to: number, log: boolean): (value: number) => number {
  const f = log ? Math.log10 : (value: number) => value;
  const [a, b] = [f(Math.max(low, log ? 1e-9 : low)), f(high)];
  return (value) => from + ((f(value) - a) / (b - a || 1)) * (to - from);
}

/** Returns about five round values between both ends. */
export function ticks(low: number, high: number, log: boolean): number[] {
  const found: number[] = [];
  if (log) {
    for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high) + 1e-9; power += 1) found.push(10 ** power);
    if (found.length >= 2) return found;
    found.length = 0;
  }
  const raw = (high - low) / 5 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw) ?? raw;
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(value);
  return found;
}

export interface Points {
  label: string;
  x: number[]; y: Num[]; low?: Num[]; high?: Num[]; hollow?: boolean[];
  /** The style of the line between the points; without it, only the points are drawn. */
  join?: 'line' | 'dashed';
  dots?: boolean;
}

/** Draws series over a common axis, with error bars. */
export function curves(title: string, series: Points[], showX: (x: number) => string, showY: (y: number) => string, options: { logX?: boolean; logY?: boolean; limit?: number | undefined } = {}): SVGElement {
  const xs = series.flatMap((s) => s.x);
  const ys = [...series.flatMap((s) => [...s.y, ...(s.low ?? []), ...(s.high ?? [])]), options.limit ?? null].filter((y): y is number => y !== null && Number.isFinite(y) && (!options.logY || y > 0));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [options.logY ? Math.min(...ys) : 0, (Math.max(...ys, 0) || 1) * (options.logY ? 1 : 1.06)];
  const px = scale(options.logX ? Math.max(x0, 1e-9) : x0, x1, LEFT + 8, WIDTH - 12, options.logX ?? false);
  const py = scale(y0, y1, HEIGHT - BOTTOM, 10, options.logY ?? false);
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title, class: 'small' });
  for (const y of ticks(y0, y1, options.logY ?? false)) {
    picture.append(svg('line', { x1: LEFT, x2: WIDTH - 8, y1: py(y), y2: py(y), class: 'grid' }), svg('text', { x: LEFT - 6, y: py(y) + 4, class: 'tick end' }, showY(y)));
  }
  let free = -1;
  for (const x of ticks(x0, x1, options.logX ?? false)) {
    if (px(x) < free) continue;
    free = px(x) + 48;
    picture.append(svg('line', { x1: px(x), x2: px(x), y1: 10, y2: HEIGHT - BOTTOM, class: 'grid' }), svg('text', { x: px(x), y: HEIGHT - 8, class: 'tick middle' }, showX(x)));
  }
  if (options.limit !== undefined) picture.append(svg('line', { x1: LEFT, x2: WIDTH - 8, y1: py(options.limit), y2: py(options.limit), class: 'limit' }));
  series.forEach((s, n) => {
    const group = svg('g', { class: `series s${n % 8}` }, svg('title', {}, s.label));
    const places = s.x.map((x, i) => [px(x), s.y[i]] as const).filter((p): p is readonly [number, number] => p[1] !== null && p[1] !== undefined && (!options.logY || p[1] > 0));
    if (s.join) group.append(svg('polyline', { points: places.map(([x, y]) => `${x},${py(y)}`).join(' '), class: s.join }));
    if (s.dots !== false) {
      s.x.forEach((x, i) => {
        const y = s.y[i];
        if (y === null || y === undefined || (options.logY && y <= 0)) return;
        const [low, high] = [s.low?.[i], s.high?.[i]];
        if (low != null && high != null) group.append(svg('line', { x1: px(x), x2: px(x), y1: py(Math.max(low, y0)), y2: py(high), class: 'bar' }));
        group.append(svg('circle', { cx: px(x), cy: py(y), r: 4, class: s.hollow?.[i] ? 'hollow' : 'dot' }, svg('title', {}, `${s.label}: ${showX(x)}, ${showY(y)}`)));
      });
    }
    picture.append(group);
  });
  return picture;
}

/** Creates the legend of the curves, and of the line of a limit. */
export function key(names: string[], limit?: string): HTMLElement {
  return el('ul', { class: 'legend' }, ...names.map((name, n) => el('li', null, el('span', { class: `swatch s${n % 8}` }), name)),
    limit ? el('li', null, el('span', { class: 'swatch limit' }), limit) : null);
}

/** Draws a histogram whose classes are on a logarithmic scale. */
export function histogram(title: string, edges: number[], counts: number[], show: (value: number) => string): SVGElement {
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title, class: 'small' });
  const low = Math.max(1, edges[0]!);
  const high = edges[edges.length - 1]!;
  const px = scale(low, high, LEFT, WIDTH - 12, true);
  const most = Math.max(1, ...counts);
  const py = scale(0, most, HEIGHT - BOTTOM, 10, false);
  let free = -1;
  for (const x of ticks(low, high, true)) {
    if (px(x) < free) continue;
    free = px(x) + 60;
    picture.append(svg('line', { x1: px(x), x2: px(x), y1: 10, y2: HEIGHT - BOTTOM, class: 'grid' }), svg('text', { x: px(x), y: HEIGHT - 8, class: 'tick middle' }, show(x)));
  }
  for (const y of ticks(0, most, false)) picture.append(svg('text', { x: LEFT - 6, y: py(y) + 4, class: 'tick end' }, String(Math.round(y))));
  counts.forEach((n, i) => {
    if (n === 0) return;
    const from = px(Math.max(low, edges[i]!));
    const to = px(edges[i + 1]!);
    picture.append(svg('rect', { x: from, y: py(n), width: Math.max(1, to - from - 0.5), height: HEIGHT - BOTTOM - py(n), class: 'fill s0' },
      svg('title', {}, `${show(edges[i]!)} – ${show(edges[i + 1]!)}: ${n}`)));
  });
  return picture;
}
