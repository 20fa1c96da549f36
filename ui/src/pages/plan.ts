// Plan, settings, machine; and JMeter's figures.

import { el, type Child } from '../dom';
import { bytes, count, day, digits, length, share } from '../format';
import { say, word } from '../language';
import type { About, JMeterFigures, RunPage } from '../model';
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
    of.load.length_ms !== null ? length(of.load.length_ms) : null,
    of.load.open ? word('open_load') : null,
  ].filter((text) => text !== null).join(', ');
  const missing = Object.entries(of.has).filter(([, there]) => !there).map(([name]) => name);
  sheet.add(el('table', { class: 'plain' }, el('caption', { class: 'visually-hidden' }, word('plan')), el('tbody', null,
    row(word('plan'), of.plan), row(word('program'), of.program), row(word('started'), day(of.start_ms)), row(word('lasted'), length(of.length_ms)),
    row(word('ended'), [of.ending.kind.replaceAll('_', ' '), of.ending.reason].filter(Boolean).join(': ')), row(word('load'), load),
    row(word('machine'), word('processors', of.machine.processors, bytes(of.machine.memory), of.machine.threads)),
    row(word('data'), missing.length === 0 ? word('complete') : word('has_not', missing.join(', '))))));
  const pairs = (title: string, rows: [string, string][]) => {
    if (rows.length === 0) return;
    sheet.add(el('h2', null, title), table({ name: title, rows, filter: ([name, value]) => `${name} ${value}`, columns: [
      { id: 'name', title: word('metric'), value: ([name]) => name }, { id: 'value', title: word('value'), value: ([, value]) => value, show: ([, value]) => el('code', { class: 'hostile' }, value) }] }));
  };
  pairs(word('properties'), of.properties);
  pairs(word('settings'), of.settings);
  if (of.notes.length > 0) sheet.add(el('h2', null, word('notes')), el('ul', null, ...of.notes.map((note) => el('li', { class: 'hostile' }, note))));
  if (of.flaws.length > 0) sheet.add(el('h2', null, word('data')), el('ul', null, ...of.flaws.map((flaw) => el('li', null, say(flaw)))));
}

export function jmeter(sheet: Sheet, of: JMeterFigures): void {
  const rows = Object.values(of.statistics);
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  sheet.add(el('p', { class: 'note' }, word('jmeter_note')), el('h2', null, word('statistics')), table({
    name: word('statistics'), rows, filter: (row) => String(row.transaction ?? ''),
    columns: keys.map((key, n) => ({
      id: key, title: key, numeric: n > 0, value: (row: Record<string, number | string>) => row[key] ?? null,
      show: (row: Record<string, number | string>) => { const value = row[key]; return typeof value === 'number' ? String(Number(value.toFixed(2))) : value; },
    })),
  }));
  sheet.add(el('h2', null, word('apdex')), table({
    name: word('apdex'), rows: of.apdex, filter: (row) => row.label, columns: [
      { id: 'label', title: word('label'), value: (row) => row.label },
      { id: 'apdex', title: word('apdex'), numeric: true, value: (row) => row.apdex, show: (row) => row.apdex.toFixed(3) },
      { id: 'satisfied', title: word('satisfied'), numeric: true, value: (row) => row.satisfied_ms, show: (row) => `${row.satisfied_ms} ms` },
      { id: 'tolerated', title: word('tolerated'), numeric: true, value: (row) => row.tolerated_ms, show: (row) => `${row.tolerated_ms} ms` },
    ],
  }));
  if (of.errors.length > 0) {
    sheet.add(el('h2', null, word('errors')), table({
      name: word('errors'), rows: of.errors, filter: (row) => row.message, columns: [
        { id: 'message', title: word('message'), value: (row) => row.message },
        { id: 'count', title: word('count'), numeric: true, value: (row) => row.count },
        { id: 'errors', title: word('of_errors'), numeric: true, value: (row) => row.of_errors, show: (row) => share(row.of_errors / 100) },
        { id: 'all', title: word('of_all'), numeric: true, value: (row) => row.of_all, show: (row) => share(row.of_all / 100) },
      ],
    }));
  }
  if (of.top5.length > 0) {
    sheet.add(el('h2', null, word('top5')), table({
      name: word('top5'), rows: of.top5, filter: (row) => row.label, columns: [
        { id: 'label', title: word('label'), value: (row) => row.label },
        { id: 'samples', title: word('count'), numeric: true, value: (row) => row.samples },
        { id: 'errors', title: word('failed'), numeric: true, value: (row) => row.errors },
        { id: 'top', title: word('message'), value: (row) => row.top.map(([message, n]) => `${n} × ${message}`).join('; ') },
      ],
    }));
  }
}
