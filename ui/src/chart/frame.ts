// The frame of every chart: title, drawing, caption, and the table with the same data.

import { add, el, replace, type Child } from '../dom';
import { word } from '../language';
import type { Saved } from '../parts/saved';
import { table, type Column } from '../parts/table';

interface Framed {
  id: string;
  title: string;
  caption: string;
  /** Draws the chart into the element, which is in the document. Returns a function that removes the drawing. */
  draw: (into: HTMLElement) => () => void;
  columns: Column<number>[];
  rows: number;
  saved: Saved<number>;
}

export interface Figure {
  element: HTMLElement;
  redraw: () => void;
  destroy: () => void;
}

export function frame(of: Framed, ...below: Child[]): Figure {
  const canvas = el('div', { class: 'plot' });
  const behind = el('div', { class: 'behind', attr: { hidden: true } });
  let shown = false;
  let undo: (() => void) | null = null;
  const button = el('button', { class: 'quiet', attr: { type: 'button', 'aria-pressed': 'false' } }, word('table'));
  button.addEventListener('click', () => {
    shown = !shown;
    button.setAttribute('aria-pressed', String(shown));
    replace(button, word(shown ? 'chart' : 'table'));
    behind.hidden = !shown;
    canvas.hidden = shown;
    if (shown && !behind.firstChild) {
      const rows = Array.from({ length: of.rows }, (_, i) => i);
      add(behind, [table({ name: of.title, saved: of.saved, columns: of.columns, rows, page: 25 })]);
    }
    if (!shown) redraw();
  });
  const element = el('figure', { id: `chart-${of.id}`, class: 'chart' },
    el('div', { class: 'chart-head' }, el('h2', null, of.title), button), canvas, behind, ...below,
    el('figcaption', null, of.caption));
  const redraw = () => {
    undo?.();
    replace(canvas);
    undo = of.draw(canvas);
  };
  // Charts are drawn when they come near the visible part of the window, because a page may have many.
  const watcher = new IntersectionObserver((seen) => {
    if (seen.some((entry) => entry.isIntersecting)) {
      watcher.disconnect();
      redraw();
    }
  }, { rootMargin: '400px' });
  watcher.observe(element);
  const again = () => { if (undo) redraw(); };
  let width = 0;
  const sized = new ResizeObserver(() => {
    const now = Math.round(canvas.clientWidth);
    if (undo && now > 0 && Math.abs(now - width) > 1) again();
    width = now;
  });
  sized.observe(canvas);
  return {
    element,
    redraw: () => { watcher.disconnect(); redraw(); },
    destroy: () => { watcher.disconnect(); sized.disconnect(); undo?.(); },
  };
}
