// The row of numbers, and the criteria as lamps.

import { el, replace } from '../dom';
import { count, digits, length, share, time } from '../format';
import { word } from '../language';
import type { Criterion } from '../model';
import type { Now } from './protocol';

export function numbers(into: HTMLElement, now: Now): void {
  const fact = (name: string, value: string, bad = false) => el('div', null, el('dt', null, name), el('dd', { class: bad ? 'bad' : '' }, value));
  const wanted = now.users_wanted !== null && now.users !== null && now.users_wanted !== now.users ? ` / ${count(now.users_wanted)}` : '';
  replace(into,
    fact(word('users'), count(now.users) + wanted),
    now.offered_per_s === null ? null : fact(word('offered'), `${digits(now.offered_per_s)}/s`),
    fact(word('achieved'), `${digits(now.rate_per_s)}/s`, now.offered_per_s !== null && now.rate_per_s < 0.9 * now.offered_per_s),
    fact('p50', time(now.p50_us)), fact('p95', time(now.p95_us)), fact('p99', time(now.p99_us)),
    fact(word('error_share'), share(now.error_share), now.error_share > 0),
    fact(word('in_flight'), count(now.in_flight)),
    fact(word('own_share'), share(now.own_share), (now.own_share ?? 0) > 0.1),
    fact(word('cpu'), share(now.cpu), (now.cpu ?? 0) > 0.9));
}

export function remaining(into: HTMLElement, now: Now): void {
  const state = now.stopping ? word('stopping') : now.paused ? word('paused') : '';
  const whole = now.remaining_ms === null ? null : now.elapsed_ms + now.remaining_ms;
  replace(into, state ? el('strong', { class: 'tag' }, state) : null, ' ', whole === null ? word('running', length(now.elapsed_ms)) : el('span', null,
    el('progress', { attr: { max: whole, value: now.elapsed_ms, 'aria-label': word('remaining', length(now.remaining_ms!)) } }), ' ', word('remaining', length(now.remaining_ms!))));
}

export function lamps(into: HTMLElement, criteria: Criterion[]): void {
  replace(into, ...criteria.map((one) => {
    const state = one.met === null ? 'open' : one.met ? 'met' : 'not_met';
    return el('li', { class: `lamp ${state}` }, el('span', { class: 'light', attr: { 'aria-hidden': 'true' } }, one.met === null ? '○' : one.met ? '✓' : '✗'), ` ${one.text} `,
      el('small', null, `${word(state)}${one.shown ? `: ${one.shown}` : ''}`));
  }));
  into.hidden = criteria.length === 0;
}
