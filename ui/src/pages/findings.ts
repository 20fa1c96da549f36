// The page of findings with their evidence, and the rules that found nothing or could not check. The texts are those of
// Rust (crates/answers/src/lines.rs).

import { el, type Child } from '../dom';
import { clock, digits, figure } from '../format';
import { say, word } from '../language';
import type { Finding, Line, Verdict } from '../model';
import * as saved from '../parts/columns';
import { saving } from '../parts/saved';
import type { Sheet } from './page';

/** Shows the findings and, if `checks`, what was checked. */
export function findings(sheet: Sheet, verdict: Verdict, chart: (id: string) => string | null, checks = true): void {
  const all = [...verdict.findings, ...verdict.hidden];
  if (all.length > 0) sheet.add(el('div', { class: 'table' }, el('div', { class: 'tools' }, ...saving(saved.findings(verdict), word('findings'), () => all))));
  verdict.lines.filter(({ kind }) => kind === 'undecided' || kind === 'nothing').forEach((line) => sheet.add(el('p', null, say(line.words))));
  verdict.findings.forEach((finding) => sheet.add(one(finding, chart)));
  if (verdict.hidden.length > 0) {
    sheet.add(el('h2', null, word('hidden')), el('p', { class: 'note' }, word('hidden_note')));
    verdict.hidden.forEach((finding) => sheet.add(one(finding, chart)));
  }
  if (!checks) return;
  for (const { kind, head, items } of verdict.lines) {
    if (kind !== 'checked' && kind !== 'unchecked') continue;
    sheet.add(el('h2', null, say(head)), el('ul', { class: kind === 'checked' ? 'plain columns' : 'plain' }, ...(items ?? []).map((item) => el('li', null, say(item)))));
  }
}

const MEASURES = ['us', 'ms', 's', 'bytes', 'bytes/s', 'share', 'count'];
/** Units of things that happen. Chinese counts them by another word than things that exist. */
const EVENTS = ['collections', 'connects', 'handshakes', 'starts', 'times'];

/** Formats a figure of the evidence: a time of day as on a clock, counted things with a small unit. */
function value(of: number, unit: string): string {
  switch (unit) {
    case 'epoch ms': return clock(of);
    case '1/s': case 'segments/s': return figure(of, '/s');
    case 'share in 10 min': return figure(of, 'share');
    case 'rank correlation': return word('rank_correlation', digits(of));
    default: return MEASURES.includes(unit) ? figure(of, unit) : word(EVENTS.includes(unit) ? 'events' : 'things', digits(of), unit);
  }
}

/** Shows a line with its head in bold. */
function emphasized({ head, words }: Line): HTMLElement {
  return el('p', null, el('strong', null, say(head)), say(words).slice(say(head).length));
}

function one(of: Finding, chart: (id: string) => string | null): HTMLElement {
  const rows = of.evidence.map((evidence) => el('tr', null,
    el('th', { attr: { scope: 'row' } }, say(evidence.metric)),
    el('td', { class: 'n' }, value(evidence.value, evidence.unit)),
    el('td', null, evidence.interval ? el('span', { class: 'interval' }, word('interval', value(evidence.interval[0], evidence.unit), value(evidence.interval[1], evidence.unit))) : null,
      evidence.unit === 'epoch ms' ? null : el('span', { class: 'when' }, evidence.from_ms === evidence.to_ms ? clock(evidence.from_ms) : `${clock(evidence.from_ms)} – ${clock(evidence.to_ms)}`))));
  const links: Child[] = of.charts.map((id) => { const title = chart(id); return title ? el('a', { class: 'see', attr: { href: `#chart/${encodeURIComponent(id)}` } }, word('see_chart', title)) : null; });
  return el('article', { class: `finding ${of.about}`, id: `finding-${of.id}` },
    el('h2', null, say(of.words), ' ', el('small', { class: 'tag' }, say(of.tags[0])), ' ', el('small', { class: 'tag' }, say(of.tags[1]))),
    say(of.advice) ? el('p', null, el('strong', null, `${word('advice')}: `), say(of.advice)) : null,
    rows.length > 0 ? el('table', { class: 'plain evidence' }, el('caption', null, word('evidence')), el('tbody', null, ...rows)) : null,
    of.not_the_cause ? emphasized(of.not_the_cause) : null,
    links.some((link) => link) ? el('p', null, ...links) : null);
}
