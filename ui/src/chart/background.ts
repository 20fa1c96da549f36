// The background of a chart: the shaded warm-up, and a line for each mark. The texts of the marks are in a separate row.

import type uPlot from 'uplot';
import { say, word } from '../language';
import type { Timeline } from '../model';
import { ink } from './colors';

export function background(plot: uPlot, timeline: Timeline, start_ms: number): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const colors = ink();
  const at = (ms: number) => plot.valToPos((ms - start_ms) / 1000, 'x', true);
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  if (timeline.warmup_ms) {
    const end = at(start_ms + timeline.warmup_ms);
    ctx.fillStyle = colors.shade;
    ctx.fillRect(left, top, end - left, height);
    ctx.fillStyle = colors.text;
    if (end - left > 60 * ratio) ctx.fillText(word('warmup'), left + 4 * ratio, top + height - 6 * ratio);
  }
  ctx.restore();
  marks(plot, timeline, at, ratio);
}

/** Height of the row above a chart with the texts of the marks, in px; 0 without marks. */
export const marksRow = (timeline: Timeline): number => (timeline.marks.length > 0 ? 18 : 8);

/** Draws a line for each mark, and its text in the row above the chart, so that no line of data crosses it. */
function marks(plot: uPlot, timeline: Timeline, at: (ms: number) => number, ratio: number): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const shown = timeline.marks.map((mark) => ({ x: Math.round(at(mark.at_ms)) + 0.5, text: say(mark.words) })).filter(({ x }) => x >= left && x <= left + width);
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.strokeStyle = ink().mark;
  ctx.fillStyle = ink().mark;
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  let free = 0;
  shown.forEach(({ x, text }, n) => {
    ctx.beginPath();
    ctx.moveTo(x, top - 4 * ratio);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    if (x < free) return;
    // A text ends before the next mark; a mark too close to the previous one is drawn without text.
    const next = shown.slice(n + 1).find((other) => other.x - x > 30 * ratio);
    const fitting = fit(text, (part) => ctx.measureText(part).width, (next?.x ?? left + width) - x - 6 * ratio);
    if (fitting === '') return;
    ctx.fillText(fitting, x, top - 7 * ratio);
    free = x + ctx.measureText(fitting).width + 6 * ratio;
  });
  ctx.restore();
}

/** Returns the text, cut with an ellipsis if it is wider than the room; empty if not even three letters fit. */
function fit(text: string, width: (text: string) => number, room: number): string {
  if (width(text) <= room) return text;
  for (let n = text.length - 1; n >= 3; n -= 1) if (width(`${text.slice(0, n)}…`) <= room) return `${text.slice(0, n)}…`;
  return '';
}
