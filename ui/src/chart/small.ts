// Small SVG charts of a label: a histogram, percentiles. They print sharply and need no canvas.

import { svg } from '../dom';

const WIDTH = 720;
const HEIGHT = 240;
const LEFT = 64;
const BOTTOM = 28;

/** Returns a function that maps values between `low` and `high` to positions, on a linear or logarithmic scale. */
function scale(low: number, high: number, from: number, to: number, log: boolean): (value: number) => number {
  const f = log ? Math.log10 : (value: number) => value;
  const [a, b] = [f(Math.max(low, log ? 1e-9 : low)), f(high)];
  return (value) => from + ((f(value) - a) / (b - a || 1)) * (to - from);
}

/** Returns about five round values between both ends. */
function ticks(low: number, high: number, log: boolean): number[] {
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

/** Draws the line of a time at each percentile, with logarithmic axes. */
export function percentiles(title: string, x: number[], us: number[], showX: (x: number) => string, showY: (y: number) => string): SVGElement {
  const points = x.map((at, n) => [at, us[n] ?? 0] as const).filter(([, y]) => y > 0);
  const [x0, x1] = [Math.min(...x), Math.max(...x)];
  const ys = points.map(([, y]) => y);
  const [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  const px = scale(x0, x1, LEFT + 8, WIDTH - 12, true);
  const py = scale(y0, y1, HEIGHT - BOTTOM, 10, true);
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title, class: 'small' });
  for (const y of ticks(y0, y1, true)) {
    picture.append(svg('line', { x1: LEFT, x2: WIDTH - 8, y1: py(y), y2: py(y), class: 'grid' }), svg('text', { x: LEFT - 6, y: py(y) + 4, class: 'tick end' }, showY(y)));
  }
  upright(picture, ticks(x0, x1, true), px, 48, showX);
  picture.append(svg('g', { class: 'series s0' }, svg('polyline', { points: points.map(([at, y]) => `${px(at)},${py(y)}`).join(' '), class: 'line' })));
  return picture;
}

/** Draws upright lines of the grid, at least `apart` px from each other, with their texts. */
function upright(picture: SVGElement, at: number[], px: (x: number) => number, apart: number, show: (x: number) => string): void {
  let free = -1;
  for (const x of at) {
    if (px(x) < free) continue;
    free = px(x) + apart;
    picture.append(svg('line', { x1: px(x), x2: px(x), y1: 10, y2: HEIGHT - BOTTOM, class: 'grid' }), svg('text', { x: px(x), y: HEIGHT - 8, class: 'tick middle' }, show(x)));
  }
}

/** Draws a histogram whose classes are on a logarithmic scale. */
export function histogram(title: string, edges: number[], counts: number[], show: (value: number) => string): SVGElement {
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title, class: 'small' });
  const low = Math.max(1, edges[0]!);
  const high = edges[edges.length - 1]!;
  const px = scale(low, high, LEFT, WIDTH - 12, true);
  const most = Math.max(1, ...counts);
  const py = scale(0, most, HEIGHT - BOTTOM, 10, false);
  upright(picture, ticks(low, high, true), px, 60, show);
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
