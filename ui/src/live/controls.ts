// Controls of a running test. The server answers each command with a sentence, records it, and marks it in the charts.

import { el, replace } from '../dom';
import { say, word } from '../language';
import { ask, Refused } from './stream';
import type { Control, Controlled, Now, Start } from './protocol';

export interface Controls { element: HTMLElement; now: (now: Now) => void }

export function controls(start: Start): Controls {
  const answer = el('p', { class: 'note', attr: { role: 'status' } });
  const send = async (control: Control, name: string) => {
    try {
      const said = (await (await ask('/api/control', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(control) })).json()) as Controlled;
      replace(answer, said.ok ? word('done', say(said.words)) : word('refused', say(said.words)));
    } catch (error) {
      replace(answer, word('refused', `${name} (${error instanceof Refused ? error.status : String(error)})`));
    }
  };
  const can = (command: Control['command']) => start.controls.includes(command);
  const press = (title: string, act: () => void) => {
    const button = el('button', { attr: { type: 'button' } }, title);
    button.addEventListener('click', act);
    return button;
  };
  const element = el('section', { class: 'controls', attr: { 'aria-label': word('controls') } });
  const level = (command: 'users' | 'rate', title: string, value: number) => {
    if (!can(command)) return null;
    const field = el('input', { attr: { type: 'number', min: 0, step: 'any', value, 'aria-label': title } });
    const set = (to: number) => { field.value = String(Math.max(0, Math.round(to))); void send({ command, value: Number(field.value) }, title); };
    return el('span', { class: 'level' }, el('span', null, title), press('−', () => set(Number(field.value) * 0.9)), field, press('+', () => set(Number(field.value) * 1.1 + 1)), press(word('set'), () => set(Number(field.value))));
  };
  const pause = press(word('pause'), () => void send({ command: paused ? 'go-on' : 'pause' }, word('pause')));
  let paused = start.now.paused;
  const text = el('input', { attr: { type: 'text', maxlength: 100, 'aria-label': word('mark_text'), placeholder: word('mark_text') } });
  for (const part of [
    level('users', word('set_users'), start.now.users_wanted ?? start.now.users ?? 0),
    level('rate', word('set_rate'), start.now.offered_per_s ?? 0),
    can('pause') ? pause : null,
    can('stop') ? press(word('stop'), () => void send({ command: 'stop' }, word('stop'))) : null,
    can('stop-now') ? press(word('stop_now'), () => { if (confirm(word('confirm_stop'))) void send({ command: 'stop-now' }, word('stop_now')); }) : null,
    can('mark') ? el('span', { class: 'level' }, text, press(word('mark'), () => { if (text.value) void send({ command: 'mark', text: text.value }, word('mark')); text.value = ''; })) : null,
    answer,
  ]) if (part) element.append(part);
  return { element, now: (now) => { paused = now.paused; replace(pause, word(paused ? 'go_on' : 'pause')); } };
}
