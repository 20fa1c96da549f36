// The heat map: samples by time of the run and by duration. The darkness of a cell is the square root of its share of
// the samples.

import uPlot from 'uplot';
import { el } from '../dom';
import { count, elapsed, time } from '../format';
import { say, word } from '../language';
import type { Heat, Timeline } from '../model';
import { background, marksRow } from './background';
import { ink, isDark } from './colors';
import { at, ms, number } from '../parts/saved';
import { frame, type Figure } from './frame';
import { axisSize, seconds, SYNC } from './plot';

export function heat(timeline: Timeline, of: Heat): Figure {
  const x = seconds(timeline);
  const rows = of.edges_us.length - 1;
  const cells: [number, number][] = [];
  for (let i = 0; i < of.counts.length; i += 1) {
    for (let row = 0; row < rows; row += 1) if ((of.counts[i]![row] ?? 0) > 0) cells.push([i, row]);
  }
  return frame({
    id: 'heat',
    title: word('heat'),
    caption: say(of.caption),
    rows: cells.length,
    saved: {
      name: 'heat',
      columns: [
        ['at', (n) => at(timeline.at_ms[cells[n]![0]]!)], ['elapsed_s', (n) => number(x[cells[n]![0]])],
        ['from_ms', (n) => ms(of.edges_us[cells[n]![1]])], ['to_ms', (n) => ms(of.edges_us[cells[n]![1] + 1])], ['count', (n) => of.counts[cells[n]![0]]![cells[n]![1]]!],
      ],
    },
    columns: [
      { id: 'time', title: word('elapsed'), numeric: true, value: (n) => x[cells[n]![0]]!, show: (n) => elapsed(x[cells[n]![0]]! * 1000) },
      {
        id: 'class', title: word('mean'), numeric: true, value: (n) => of.edges_us[cells[n]![1]]!,
        show: (n) => `${time(of.edges_us[cells[n]![1]]!)} – ${time(of.edges_us[cells[n]![1] + 1]!)}`,
      },
      { id: 'count', title: word('count'), numeric: true, value: (n) => of.counts[cells[n]![0]]![cells[n]![1]]!, show: (n) => count(of.counts[cells[n]![0]]![cells[n]![1]]!) },
    ],
    draw: (into) => draw(into, timeline, of, x),
  });
}

function draw(into: HTMLElement, timeline: Timeline, of: Heat, x: number[]): () => void {
  const colors = ink();
  const low = Math.max(1, of.edges_us[0]!);
  const high = of.edges_us[of.edges_us.length - 1]!;
  const holder = el('div', { class: 'canvas', attr: { role: 'img', 'aria-label': `${word('heat')}. ${say(of.caption)}` } });
  into.append(holder);
  let most = 1;
  for (const column of of.counts) for (const n of column) most = Math.max(most, n);
  const axis = { stroke: colors.text, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.grid, width: 1 }, font: '12px system-ui, sans-serif' };
  const plot: uPlot = new uPlot({
    width: Math.max(240, into.clientWidth),
    height: 260,
    padding: [marksRow(timeline), null, null, null],
    legend: { show: false },
    cursor: { sync: { key: SYNC.key, setSeries: false }, y: false, points: { show: false }, drag: { x: true, y: false } },
    scales: { x: { time: false }, y: { distr: 3, range: [low, high] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map((value) => elapsed(value * 1000)), space: 64 },
      { ...axis, size: axisSize, values: (_, splits) => splits.map((value) => (Math.abs(Math.log10(value) % 1) < 1e-6 ? time(value) : '')) },
    ],
    series: [{}, { show: true, stroke: 'transparent', points: { show: false } }],
    hooks: { drawClear: [(u) => { cells(u, of, x, timeline.step_ms / 1000, low, most); background(u, timeline, timeline.at_ms[0] ?? 0); }] },
  }, [x, x.map(() => low)], holder);
  SYNC.sub(plot);
  return () => { SYNC.unsub(plot); plot.destroy(); };
}

function cells(plot: uPlot, of: Heat, x: number[], step: number, low: number, most: number): void {
  const { ctx } = plot;
  const rows = of.edges_us.length - 1;
  const y = of.edges_us.map((edge) => plot.valToPos(Math.max(low, edge), 'y', true));
  const [red, green, blue] = isDark() ? [107, 183, 242] : [11, 95, 165];
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  for (let i = 0; i < x.length; i += 1) {
    const counts = of.counts[i];
    if (!counts) continue;
    const from = plot.valToPos(x[i]!, 'x', true);
    const to = plot.valToPos(x[i]! + step, 'x', true);
    for (let row = 0; row < rows; row += 1) {
      const n = counts[row] ?? 0;
      if (n === 0) continue;
      ctx.fillStyle = `rgba(${red},${green},${blue},${0.12 + 0.88 * Math.sqrt(n / most)})`;
      ctx.fillRect(from, y[row + 1]!, Math.max(1, to - from), Math.max(1, y[row]! - y[row + 1]!));
    }
  }
  ctx.restore();
}
