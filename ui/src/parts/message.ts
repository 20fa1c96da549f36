// Messages of failures, such as the text of an assertion, which may have many lines.

import { el } from '../dom';

/** Shows a message in one line of text: JMeter's assertions write one with line breaks and rows of stars. */
export function message(text: string): HTMLElement {
  return el('span', { class: 'message hostile' }, oneLine(text));
}

/** Replaces line breaks and runs of spaces by single spaces. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
