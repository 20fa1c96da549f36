// The phases of a sample's time, drawn as a bar.

import { el, svg } from '../dom';
import { time } from '../format';
import { word } from '../language';
import type { Num } from '../model';
import type { Word } from '../words/en';

export const PHASES: Word[] = ['phase_late', 'phase_room', 'phase_dns', 'phase_connect', 'phase_tls', 'phase_send', 'phase_wait', 'phase_receive', 'phase_lag'];
/** Indices of the phases within the elapsed time. A late start and the overhead are not part of it. */
const ELAPSED = [1, 2, 3, 4, 5, 6, 7];

export function phaseBar(phases: Num[], whole: number): SVGElement {
  const parts = ELAPSED.map((n) => [n, phases[n] ?? 0] as const).filter(([, us]) => us > 0);
  const total = Math.max(1, whole, parts.reduce((sum, [, us]) => sum + us, 0));
  const text = parts.map(([n, us]) => `${word(PHASES[n]!)} ${time(us)}`).join(', ') || time(whole);
  const bar = svg('svg', { viewBox: '0 0 160 10', class: 'phase-bar', role: 'img', 'aria-label': text, preserveAspectRatio: 'none' }, svg('title', {}, text));
  let x = 0;
  for (const [n, us] of parts) {
    const width = (us / total) * 160;
    bar.append(svg('rect', { x, y: 0, width: Math.max(width, 0.5), height: 10, class: `fill p${n}` }));
    x += width;
  }
  return bar;
}

export function phaseKey(): HTMLElement {
  return el('ul', { class: 'legend' }, ...ELAPSED.map((n) => el('li', null, el('span', { class: `swatch p${n}` }), word(PHASES[n]!))));
}

/** Draws the phases of one sample below each other, each from its begin. */
export function waterfall(phases: Num[], elapsed: number): HTMLElement {
  const rows = PHASES.map((name, n) => [name, n, phases[n] ?? null] as const).filter(([, , us]) => us !== null && us > 0);
  const late = phases[0] ?? 0;
  const total = Math.max(1, elapsed + late);
  let at = late;
  return el('table', { class: 'waterfall' }, el('caption', null, word('waterfall')), el('tbody', null, ...rows.map(([name, n, us]) => {
    const begin = n === 0 || n === 8 ? (n === 0 ? 0 : total - us!) : at;
    if (n > 0 && n < 8) at += us!;
    const picture = svg('svg', { viewBox: '0 0 400 10', class: 'phase-bar wide', 'aria-hidden': 'true', preserveAspectRatio: 'none' },
      svg('rect', { x: (begin / total) * 400, y: 0, width: Math.max(1, (us! / total) * 400), height: 10, class: `fill p${n}` }));
    return el('tr', null, el('th', { attr: { scope: 'row' } }, word(name)), el('td', { class: 'n' }, time(us)), el('td', { class: 'wide' }, picture));
  })));
}
