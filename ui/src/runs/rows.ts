// Columns of the list of runs, and the order of its rows.

import { el, type Child } from '../dom';
import { count, day, digits, length, share, time, NONE } from '../format';
import { say, word } from '../language';
import type { Word } from '../words/en';
import type { Entry, Figures } from './protocol';

export interface Column {
  id: string;
  title: Word;
  numeric?: boolean;
  value: (entry: Entry) => number | string | null;
  show: (entry: Entry) => Child;
}

const ENDS: Record<string, Word> = { interrupted: 'end_interrupted', 'interrupted at once': 'end_interrupted', aborted: 'end_aborted', 'ended by a criterion': 'end_criterion', 'stopped by the plan': 'end_plan' };

export const title = (entry: Entry): string => entry.note.name || entry.folder;

const tag = (text: string, kind = ''): HTMLElement => el('small', { class: `tag hostile ${kind}` }, text);

function name(entry: Entry): Child {
  const end = entry.state === 'ended' ? ENDS[entry.end ?? ''] : undefined;
  return el('span', null,
    el('a', { class: 'hostile', attr: { href: entry.address } }, title(entry)),
    entry.note.name ? el('small', { class: 'folder hostile' }, entry.folder) : null,
    el('span', { class: 'tags' },
      entry.kind === 'run' ? null : tag(word(`kind_${entry.kind}`)),
      entry.state === 'running' ? tag(word('state_running'), 'good') : entry.state === 'unfinished' ? tag(word('state_unfinished'), 'warn') : null,
      end ? tag(word(end), 'warn') : null,
      ...entry.note.tags.map((text) => tag(text, 'own'))));
}

export type Outcome = 'met' | 'not_met' | 'undecided';

/** Returns the outcome of all criteria: one that is not met outweighs undecided ones. */
export function outcome({ met, of, undecided = 0 }: NonNullable<Entry['criteria']>): Outcome {
  return met === of ? 'met' : met + undecided === of ? 'undecided' : 'not_met';
}

export const OUTCOMES: Record<Outcome, string> = { met: 'good', not_met: 'bad', undecided: 'warn' };
const SIGNS: Record<Outcome, string> = { met: '✓ ', not_met: '✗ ', undecided: '? ' };

function criteria(entry: Entry): Child {
  if (!entry.criteria) return NONE;
  const { met, of, undecided = 0 } = entry.criteria;
  const found = outcome(entry.criteria);
  return el('span', { class: OUTCOMES[found] }, el('span', { attr: { 'aria-hidden': 'true' } }, SIGNS[found]), word('criteria_of', met, of),
    undecided > 0 ? el('small', { class: 'folder' }, `${undecided} ${word('undecided')}`) : null);
}

/** Shows a figure; below it the part of an answer that it is about, and the figure of side A. */
function figure(show: (of: Figures) => string, says = false): (entry: Entry) => Child {
  return (entry) => {
    const shown = show(entry);
    const of = says && entry.of ? say(entry.of) : '';
    if (!of && !entry.a) return shown;
    return el('span', null, shown, of ? el('small', { class: 'folder hostile' }, of) : null, entry.a ? el('small', { class: 'folder' }, `A ${show(entry.a)}`) : null);
  };
}

const rate = (of: Figures): string => (of.rate_per_s === null ? NONE : `${digits(of.rate_per_s)}/s`);

export const COLUMNS: Column[] = [
  { id: 'name', title: 'run', value: title, show: name },
  { id: 'at', title: 'started', value: (entry) => entry.at_ms, show: (entry) => el('span', { class: 'when' }, day(entry.at_ms), entry.length_ms === null ? null : el('small', { class: 'folder' }, length(entry.length_ms))) },
  { id: 'plan', title: 'plan_file', value: (entry) => entry.plan, show: (entry) => el('span', { class: 'hostile' }, entry.plan || NONE) },
  { id: 'words', title: 'verdict', value: (entry) => (entry.words ? say(entry.words) : ''), show: (entry) => el('span', { class: entry.doubtful ? 'bad sentence' : 'sentence' }, entry.words ? say(entry.words) : NONE) },
  { id: 'samples', title: 'count', numeric: true, value: (entry) => entry.samples, show: figure((of) => count(of.samples)) },
  { id: 'rate', title: 'rate', numeric: true, value: (entry) => entry.rate_per_s, show: figure(rate, true) },
  { id: 'p95', title: 'response_p95', numeric: true, value: (entry) => entry.p95_us, show: figure((of) => time(of.p95_us)) },
  { id: 'errors', title: 'failed_requests', numeric: true, value: (entry) => entry.error_share, show: (entry) => el('span', { class: (entry.error_share ?? 0) > 0 ? 'bad' : '' }, figure((of) => share(of.error_share))(entry)) },
  { id: 'criteria', title: 'criteria', value: (entry) => (entry.criteria ? entry.criteria.met / entry.criteria.of : null), show: criteria },
];

/** Returns the text that a search looks through. */
export const searched = (entry: Entry): string =>
  [entry.folder, entry.note.name, ...entry.note.tags, entry.plan, entry.words?.en, entry.words?.zh, word(`kind_${entry.kind}`), entry.state === 'running' ? word('state_running') : ''].join('\n').toLowerCase();

export function order(column: Column, descending: boolean): (a: Entry, b: Entry) => number {
  const sign = descending ? -1 : 1;
  return (one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    // Rows without a value come last in either direction.
    if (a === null || b === null) return a === b ? one.id - other.id : a === null ? 1 : -1;
    const way = typeof a === 'number' && typeof b === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0;
    return way === 0 ? one.id - other.id : sign * way;
  };
}
