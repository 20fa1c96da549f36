// The background of a chart: the shaded warm-up, and a line for each mark.

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
  ctx.strokeStyle = colors.mark;
  ctx.fillStyle = colors.mark;
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  let free = left - 1;
  for (const mark of timeline.marks) {
    const x = Math.round(at(mark.at_ms)) + 0.5;
    if (x < left || x > left + width) continue;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    // Text is drawn for a mark only if there is room for it.
    const text = say(mark.words);
    const room = ctx.measureText(text).width + 8 * ratio;
    if (x > free && x + room < left + width) {
      ctx.fillText(text, x + 4 * ratio, top + 12 * ratio);
      free = x + room;
    }
  }
  ctx.restore();
}
