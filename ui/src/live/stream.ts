// Reads server-sent events by fetch, because an EventSource cannot send a token.

import type { Event, Start } from './protocol';

const KEY = 'throng-token';

/** Returns the token of the link, and removes it from the address, so that screenshots do not show it. */
export function token(): string {
  const given = /^#t=([\w-]+)/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname);
  }
  return given ?? sessionStorage.getItem(KEY) ?? '';
}

export class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(path, { ...init, cache: 'no-store', headers: { ...init.headers, Authorization: `Bearer ${token()}` } });
  if (!answer.ok) throw new Refused(answer.status);
  return answer;
}

export async function begin(): Promise<Start> {
  return (await (await ask('/api/page')).json()) as Start;
}

/** Splits a stream of text into events, at whatever positions the chunks are cut. */
class Splitter {
  private rest = '';

  push(chunk: string): { id: number | null; event: string; data: string }[] {
    this.rest += chunk;
    const found = [];
    for (let end = this.rest.indexOf('\n\n'); end >= 0; end = this.rest.indexOf('\n\n')) {
      const block = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + 2);
      let [id, event]: [number | null, string] = [null, 'message'];
      const data: string[] = [];
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':');
        if (colon <= 0) continue;
        const value = line.slice(colon + 1).replace(/^ /, '');
        const field = line.slice(0, colon);
        if (field === 'id') id = Number(value);
        if (field === 'event') event = value;
        if (field === 'data') data.push(value);
      }
      if (data.length > 0) found.push({ id, event, data: data.join('\n') });
    }
    return found;
  }
}

/** Follows the events until the run ends. Reconnects after a lost connection. */
export async function follow(from: number, take: (event: Event, id: number | null) => void, state: (connected: boolean) => void): Promise<void> {
  let last = from;
  await read(() => String(last), (event, id) => {
    if (id !== null) last = id;
    take(event as Event, id);
    return event.event === 'end';
  }, state);
}

/** Follows events that only announce a change. Never ends. */
export async function events(take: () => void, state: (connected: boolean) => void): Promise<void> {
  await read(() => null, () => { take(); return false; }, state);
}

/** Reads events until `take` returns true for the last one. Reconnects after a lost connection. */
async function read(behind: () => string | null, take: (event: { event: string; data: unknown }, id: number | null) => boolean, state: (connected: boolean) => void): Promise<void> {
  let ended = false;
  for (let wait = 500; !ended; wait = Math.min(10_000, wait * 2)) {
    try {
      const from = behind();
      const answer = await ask('/api/events', { headers: from === null ? {} : { 'Last-Event-ID': from } });
      state(true);
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      const splitter = new Splitter();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        wait = 500;
        for (const { id, event, data } of splitter.push(part.value)) {
          if (take({ event, data: JSON.parse(data) as unknown }, id)) ended = true;
        }
      }
    } catch (error) {
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) throw error;
    }
    if (ended) return;
    state(false);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
