// Common parts of the pages of a report.

import type { Figure } from '../chart/frame';
import type { RunPage } from '../model';

/** A displayed page: its elements, and the charts to destroy when the page is left. */
export class Sheet {
  readonly element: HTMLElement;
  private figures: Figure[] = [];

  constructor(element: HTMLElement) {
    this.element = element;
  }

  add(...children: (Node | null)[]): void {
    for (const child of children) if (child) this.element.append(child);
  }

  chart(figure: Figure): void {
    this.figures.push(figure);
    this.element.append(figure.element);
  }

  redraw(): void {
    this.figures.forEach((figure) => figure.redraw());
  }

  destroy(): void {
    this.figures.forEach((figure) => figure.destroy());
    this.figures = [];
  }
}

export type Show = (sheet: Sheet, page: RunPage, argument: string) => void;
