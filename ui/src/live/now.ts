// The row with the current metrics, and the lamps of the criteria.

import { el, replace } from '../dom';
import { count, cutShare, digits, length, share, time, timed } from '../format';
import { say, word } from '../language';
import type { Criterion } from '../model';
import type { Now } from './protocol';

export function numbers(into: HTMLElement, now: Now): void {
  const fact = (name: string, value: string, bad = false, note = '') => el('div', null, el('dt', null, name), el('dd', { class: bad ? 'bad' : '' }, value, note ? el('small', { class: 'below' }, ` ${note}`) : null));
  const wanted = now.users_wanted !== null && now.users !== null && now.users_wanted !== now.users ? ` / ${count(now.users_wanted)}` : '';
  const differs = now.times === 'response' && time(now.service_p95_us) !== time(now.p95_us);
  replace(into,
    fact(word('users'), count(now.users) + wanted),
    now.offered_per_s === null ? null : fact(word('offered'), `${digits(now.offered_per_s)}/s`),
    fact(word('achieved'), `${digits(now.rate_per_s)}/s`, now.offered_per_s !== null && now.rate_per_s < 0.9 * now.offered_per_s),
    fact(timed(now.times, 'p50'), time(now.p50_us)), fact(timed(now.times, 'p95'), time(now.p95_us)), fact(timed(now.times, 'p99'), time(now.p99_us)),
    differs ? fact(timed('service', 'p95'), time(now.service_p95_us), false, word('elapsed_note')) : null,
    fact(word(now.transactions ? 'failed_requests' : 'error_share'), share(now.error_share), now.error_share > 0),
    now.succeeded_share === null ? null : fact(word('requests_succeeded'), cutShare(now.succeeded_share), now.succeeded_share !== 1),
    now.as_expected_share === null ? null : fact(word('as_expected'), cutShare(now.as_expected_share), now.as_expected_share < 1),
    fact(word('in_flight'), count(now.in_flight)),
    fact(word('own_share'), share(now.own_share), (now.own_share ?? 0) > 0.1, now.own_us ? word('own_words', time(now.own_us[0]), time(now.own_us[1])) : ''),
    fact(word('cpu'), share(now.cpu), (now.cpu ?? 0) > 0.9),
    ...now.cost.map((one) => fact(say(one.name), one.value, false, say(one.note))));
}

export function remaining(into: HTMLElement, now: Now): void {
  const state = now.stopping ? word('stopping') : now.paused ? word('paused') : '';
  const whole = now.remaining_ms === null ? null : now.elapsed_ms + now.remaining_ms;
  replace(into, state ? el('strong', { class: 'tag' }, state) : null, ' ', whole === null ? word('running', length(now.elapsed_ms)) : el('span', null,
    el('progress', { attr: { max: whole, value: now.elapsed_ms, 'aria-label': word('remaining', length(now.remaining_ms!)) } }), ' ', word('remaining', length(now.remaining_ms!))));
}

/** Shows the criteria as lamps, and the CPU quota of the generator if it has one. */
export function lamps(into: HTMLElement, criteria: Criterion[], quota: Now['quota']): void {
  const lamp = (state: 'open' | 'met' | 'not_met', text: string, said: string) => el('li', { class: `lamp ${state}` },
    el('span', { class: 'light', attr: { 'aria-hidden': 'true' } }, state === 'open' ? '○' : state === 'met' ? '✓' : '✗'), ` ${text} `, el('small', null, said));
  replace(into, ...criteria.map((one) => {
    const state = one.met === null ? 'open' : one.met ? 'met' : 'not_met';
    return lamp(state, one.text, `${word(state)}${one.shown.en ? `: ${say(one.shown)}` : ''}`);
  }), quota ? lamp(quota.is_limit ? 'not_met' : 'met', word('quota', digits(quota.processors)), word(quota.is_limit ? 'quota_stops' : 'quota_fits', share(quota.stopped_share))) : null);
  into.hidden = criteria.length === 0 && !quota;
}
