// The page of the plan, its settings and the machine.

import { el, type Child } from '../dom';
import { bytes, count, day, digits, length } from '../format';
import { say, word } from '../language';
import type { About, RunPage } from '../model';
import * as saved from '../parts/columns';
import { table } from '../parts/table';
import type { Sheet } from './page';

export function plan(sheet: Sheet, page: RunPage): void {
  about(sheet, page.about);
}

export function about(sheet: Sheet, of: About): void {
  const row = (name: string, value: Child) => el('tr', null, el('th', { attr: { scope: 'row' } }, name), el('td', { class: 'hostile' }, value));
  const load = [
    of.load.users > 0 ? word('users_of', count(of.load.users)) : null,
    of.load.rate !== null ? word('rate_of', digits(of.load.rate)) : null,
    // Another row shows the actual length. The planned length is shown only if it differs.
    of.load.length_ms !== null && length(of.load.length_ms) !== length(of.length_ms) ? word('planned', length(of.load.length_ms)) : null,
    of.load.open ? word('open_load') : null,
  ].filter((text) => text !== null).join(', ');
  const missing = Object.entries(of.has).filter(([, there]) => !there).map(([name]) => word(`has_${name as keyof About['has']}`));
  const ending = word(`ended_${of.ending.kind}`);
  const reason = say(of.ending.reason);
  sheet.add(el('table', { class: 'plain' }, el('caption', { class: 'visually-hidden' }, word('plan')), el('tbody', null,
    row(word('plan_file'), of.plan), row(word('program'), of.program), row(word('started'), day(of.start_ms)), row(word('lasted'), length(of.length_ms)),
    row(word('ended'), reason ? `${ending}: ${reason}` : ending), load ? row(word('load'), load) : null,
    row(word('machine'), word('processors', of.machine.processors, bytes(of.machine.memory), of.machine.threads)),
    row(word('data'), missing.length === 0 ? word('complete') : word('has_not', missing.join(', '))))));
  const pairs = (name: string, title: string, rows: [string, string][]) => {
    if (rows.length === 0) return;
    sheet.add(el('h2', null, title), table({ name: title, saved: saved.pairs(name), rows, filter: ([name, value]) => `${name} ${value}`, columns: [
      { id: 'name', title: word('name'), value: ([name]) => name }, { id: 'value', title: word('value'), value: ([, value]) => value, show: ([, value]) => el('code', { class: 'hostile' }, value) }] }));
  };
  pairs('properties', word('properties'), of.properties);
  pairs('settings', word('settings'), of.settings);
  if (of.notes.length > 0) sheet.add(el('h2', null, word('notes')), el('ul', null, ...[...new Set(of.notes)].map((note) => el('li', { class: 'hostile' }, note))));
  if (of.flaws.length > 0) sheet.add(el('h2', null, word('data')), el('ul', null, ...of.flaws.map((flaw) => el('li', null, say(flaw)))));
}
