// The table of labels on the live page.

import { el, replace } from '../dom';
import { count, digits, share, time, timed } from '../format';
import { word } from '../language';
import type { Now } from './protocol';

export interface Labels { element: HTMLElement; now: (now: Now) => void }

/** Creates the table. Each second replaces its rows only, so that a scrolled table stays scrolled. */
export function labels(): Labels {
  const head = el('tr', null);
  const body = el('tbody', null);
  const note = el('p', { class: 'note' });
  const element = el('section', { class: 'labels' }, el('h2', null, word('labels')),
    el('div', { class: 'scroll', attr: { tabindex: 0, role: 'region', 'aria-label': word('labels') } }, el('table', { class: 'dense' }, el('thead', null, head), body)), note);
  const now = ({ labels: { rows, more, seconds }, times }: Now) => {
    const titles = [word('label'), word('rate'), timed(times, 'p95'), word('error_share'), word('share_of_time')];
    replace(head, ...titles.map((title, n) => el('th', { attr: { scope: 'col' }, class: n > 0 ? 'n' : '' }, title)));
    replace(body, ...rows.map((row) => el('tr', null,
      el('th', { attr: { scope: 'row' }, class: 'hostile' }, row.name, ' ', row.transaction ? el('small', { class: 'tag' }, word('transaction')) : null,
        row.folded > 0 ? el('small', { class: 'tag', title: word('folded', count(row.folded)) }, word('labels_of', count(row.folded))) : null),
      el('td', { class: 'n' }, `${digits(row.rate_per_s)}/s`),
      el('td', { class: 'n' }, time(row.p95_us)),
      el('td', { class: row.error_share > 0 ? 'n bad' : 'n' }, share(row.error_share)),
      el('td', { class: 'n' }, share(row.share_of_time)))));
    replace(note, word('last_seconds', Math.round(seconds)), ' ', rows.some((row) => row.transaction) ? word('transaction_time') : '', more > 0 ? ` ${word('labels_more', count(more))}` : '');
    element.hidden = rows.length === 0;
  };
  return { element, now };
}
