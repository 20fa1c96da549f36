// The page of samples that were kept in full.

import { el, replace } from '../dom';
import { clock, time } from '../format';
import { message } from '../parts/message';
import { word } from '../language';
import type { RunPage, Sample } from '../model';
import * as saved from '../parts/columns';
import { waterfall } from '../parts/phases';
import { table } from '../parts/table';
import type { Sheet } from './page';

const WHY = { error: 'why_error', slowest: 'why_slowest', random: 'why_random' } as const;

export function samples(sheet: Sheet, page: RunPage): void {
  const holder = el('div', null);
  const show = (why: string) => replace(holder, sampleTable(page, page.samples.filter((one) => why === 'all' || one.why === why)));
  const choice = el('select', { attr: { 'aria-label': word('why') } }, el('option', { attr: { value: 'all' } }, word('all')),
    ...(['error', 'slowest', 'random'] as const).filter((why) => page.samples.some((one) => one.why === why)).map((why) => el('option', { attr: { value: why } }, word(WHY[why]))));
  choice.addEventListener('change', () => show(choice.value));
  show('all');
  sheet.add(el('p', { class: 'note' }, word('samples_note')), el('label', { class: 'choice' }, `${word('why')} `, choice), holder);
}

export function sampleTable(page: RunPage, rows: Sample[]): HTMLElement {
  return table<Sample>({
    name: word('samples'),
    rows,
    saved: saved.samples(page),
    page: 25,
    sort: ['elapsed', 'descending'],
    filter: (row) => `${page.labels[row.label]?.name ?? ''} ${row.code} ${row.message} ${row.trace ?? ''}`,
    columns: [
      { id: 'time', title: word('time'), value: (row) => row.at_ms, show: (row) => clock(row.at_ms) },
      { id: 'label', title: word('label'), value: (row) => page.labels[row.label]?.name ?? null },
      { id: 'why', title: word('why'), value: (row) => row.why, show: (row) => word(WHY[row.why]) },
      { id: 'elapsed', title: word('elapsed'), numeric: true, value: (row) => row.elapsed_us, show: (row) => time(row.elapsed_us) },
      { id: 'code', title: word('code'), value: (row) => row.code, show: (row) => el('span', { class: row.ok ? '' : 'bad' }, row.code) },
      { id: 'message', title: word('message'), value: (row) => row.message, show: (row) => message(row.message) },
      { id: 'address', title: word('address'), value: (row) => row.address },
      ...(rows.some((row) => row.trace !== null) ? [{ id: 'trace', title: word('trace'), value: (row: Sample) => row.trace }] : []),
    ],
    below: (row) => detail(row),
  });
}

function detail(of: Sample): HTMLElement {
  const box = el('details', { class: 'below' }, el('summary', null, `${word('waterfall')}, ${word('request')}, ${word('answer')}`));
  // The content is created when it is opened, because a page may have hundreds of samples.
  box.addEventListener('toggle', () => {
    if (!box.open || box.childElementCount > 1) return;
    const excerpt = (title: string, text: string | null) => el('div', null, el('h3', null, title, of.cut && text ? el('small', { class: 'tag' }, word('cut')) : null),
      text === null ? el('p', { class: 'note' }, word('not_kept')) : el('pre', { class: 'hostile', attr: { tabindex: 0 } }, text));
    box.append(waterfall(of.phases, of.elapsed_us), el('div', { class: 'pair' }, excerpt(word('request'), of.request), excerpt(word('answer'), of.response)));
  });
  return box;
}
