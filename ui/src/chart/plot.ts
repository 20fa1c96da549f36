// Lines over time, drawn by uPlot. All charts of a page share the cursor and the visible part of the run.

import uPlot from 'uplot';
import { el, replace } from '../dom';
import { elapsed, figure } from '../format';
import { say, word } from '../language';
import type { Chart, Column, Num, Timeline, Unit } from '../model';
import { fade, ink, line } from './colors';
import { overTime } from '../parts/columns';
import { frame, type Figure } from './frame';
import { background, marksRow } from './background';

export const SYNC = uPlot.sync('time');
const HEIGHT = 220;

/** Returns the values of a column as figures in its unit. */
export function figures(column: Column): Num[] {
  return column.values.map((value) => (value === null ? null : value * column.scale));
}

/** Returns the start of the run, epoch ms. On a live page, the timeline may begin later. */
function began(timeline: Timeline): number {
  return timeline.start_ms ?? timeline.at_ms[0] ?? 0;
}

/** Returns the instants as seconds since the start of the run. */
export function seconds(timeline: Timeline): number[] {
  const start = began(timeline);
  return timeline.at_ms.map((at) => (at - start) / 1000);
}

interface Series { name: string; unit: Unit; values: Num[] }

/** Creates a chart. A redraw shows the current data of the timeline. */
export function chart(timeline: Timeline, spec: Chart): Figure {
  return lines(() => of(timeline, spec));
}

function of(timeline: Timeline, spec: Chart): Lines {
  const found = spec.columns.map((id) => timeline.columns.find((column) => column.id === id)).filter((c) => c !== undefined);
  const series: Series[] = found.map((column) => ({ name: say(column.name), unit: column.unit, values: figures(column) }));
  const bands = spec.bands.map(([low, high]): [number, number] =>
    [spec.columns.indexOf(low), spec.columns.indexOf(high)]).filter(([low, high]) => low >= 0 && high >= 0);
  return { id: spec.id, title: say(spec.title), caption: say(spec.caption), timeline, series, log: spec.log, bands, columns: found };
}

interface Lines {
  id: string; title: string; caption: string; timeline: Timeline; series: Series[]; log: boolean; bands: [number, number][];
  columns: Column[];
}

export function lines(made: Lines | (() => Lines)): Figure {
  const make = typeof made === 'function' ? made : () => made;
  const of = make();
  const x = seconds(of.timeline);
  const hidden = new Set<string>();
  return frame({
    id: of.id,
    title: of.title,
    caption: of.caption,
    rows: x.length,
    saved: overTime(of.id, of.timeline, began(of.timeline), of.columns),
    columns: [
      { id: 'time', title: word('elapsed'), numeric: true, value: (i) => x[i]!, show: (i) => elapsed(x[i]! * 1000) },
      ...of.series.map((series, n) => ({
        id: String(n), title: series.name, numeric: true,
        value: (i: number) => series.values[i] ?? null, show: (i: number) => figure(series.values[i] ?? null, series.unit),
      })),
    ],
    draw: (into) => draw(into, make(), hidden),
  });
}

function draw(into: HTMLElement, of: Lines, hidden: Set<string>): () => void {
  const x = seconds(of.timeline);
  const start = began(of.timeline);
  const colors = ink();
  const units = [...new Set(of.series.map((series) => series.unit))];
  const values = el('p', { class: 'visually-hidden', attr: { 'aria-live': 'polite' } });
  const legend = el('ul', { class: 'legend' });
  const holder = el('div', { class: 'canvas', attr: { tabindex: 0, role: 'img', 'aria-label': `${of.title}. ${of.caption} ${word('keyboard')}` } });
  into.append(holder, legend, values);
  const readings = of.series.map((series, n) => reading(legend, series, n, hidden, () => plot));
  const read = (index: number | null | undefined) => {
    of.series.forEach((series, n) => replace(readings[n]!, index == null ? '' : figure(series.values[index] ?? null, series.unit)));
  };
  const positive = (list: Num[]) => (of.log ? list.map((value) => (value !== null && value > 0 ? value : null)) : list);
  const scales: uPlot.Scales = { x: { time: false } };
  units.forEach((unit) => {
    scales[unit] = of.log ? { distr: 3 } : { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? (high ?? 0) * 1.08 : 1] };
  });
  const axis = { stroke: colors.text, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.grid, width: 1 }, font: '12px system-ui, sans-serif' };
  const options: uPlot.Options = {
    width: Math.max(240, into.clientWidth),
    height: HEIGHT,
    padding: [marksRow(of.timeline), null, null, null],
    legend: { show: false },
    cursor: { sync: { key: SYNC.key, setSeries: false }, y: false, points: { size: 6 }, drag: { x: true, y: false } },
    scales,
    axes: [
      { ...axis, values: (_, splits) => splits.map((value) => elapsed(value * 1000)), space: 64 },
      ...units.slice(0, 2).map((unit, n): uPlot.Axis => ({
        ...axis, scale: unit, side: n === 0 ? 3 : 1, size: axisSize, ...(n > 0 ? { grid: { show: false } } : {}),
        values: (_, splits) => splits.map((value) => (value === null || (of.log && !powerOfTen(value)) ? '' : figure(value, unit))),
      })),
    ],
    series: [
      {},
      ...of.series.map((series, n): uPlot.Series => {
        const { color, dash } = line(n);
        return { label: series.name, show: !hidden.has(series.name), scale: series.unit, stroke: color, width: 1.5, dash, points: { show: x.length < 40, size: 4 }, spanGaps: false };
      }),
    ],
    bands: of.bands.map(([low, high]) => ({ series: [high + 1, low + 1] as [number, number], fill: fade(line(high).color, 0.14) })),
    hooks: {
      drawClear: [(u) => background(u, of.timeline, start)],
      setCursor: [(u) => read(u.cursor.idx)],
    },
  };
  const plot: uPlot = new uPlot(options, [x, ...of.series.map((series) => positive(series.values))] as uPlot.AlignedData, holder);
  SYNC.sub(plot);
  holder.addEventListener('keydown', (event) => {
    const last = x.length - 1;
    const now = plot.cursor.idx ?? 0;
    const step = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const index = Math.min(last, Math.max(0, to));
    plot.setCursor({ left: plot.valToPos(x[index]!, 'x'), top: HEIGHT / 2 });
    const said = of.series.map((series) => `${series.name}: ${figure(series.values[index] ?? null, series.unit)}`).join(', ');
    replace(values, `${word('at', elapsed(x[index]! * 1000))}: ${said}`);
  });
  return () => { SYNC.unsub(plot); plot.destroy(); };
}

/** Returns the width of a vertical axis, px: that of its longest text. */
export function axisSize(plot: uPlot, values: string[] | null): number {
  plot.ctx.save();
  plot.ctx.font = '12px system-ui, sans-serif';
  const widest = Math.max(0, ...(values ?? []).map((text) => plot.ctx.measureText(text).width));
  plot.ctx.restore();
  return Math.max(68, Math.ceil(widest) + 20);
}

function powerOfTen(value: number): boolean {
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-6;
}

/** Creates a legend entry, which hides and shows its series. The returned element shows the figure under the cursor. */
function reading(legend: HTMLElement, series: Series, n: number, hidden: Set<string>, plot: () => uPlot): HTMLElement {
  const { color } = line(n);
  const now = el('span', { class: 'reading' });
  const swatch = el('span', { class: 'swatch' });
  swatch.style.background = color;
  const button = el('button', { class: 'entry', attr: { type: 'button', 'aria-pressed': String(!hidden.has(series.name)) } }, swatch, series.name, ' ', now);
  button.addEventListener('click', () => {
    const shown = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(shown));
    if (shown) hidden.delete(series.name); else hidden.add(series.name);
    plot().setSeries(n + 1, { show: shown });
  });
  legend.append(el('li', null, button));
  return now;
}
