// What the page with a folder's runs and its server say to each other.
//
// All requests carry `Authorization: Bearer TOKEN`, as those of the live page do.
//
//   GET  /                    this page (no token)
//   GET  /api/runs?since=N    List: what is newer than version N
//   GET  /api/events          server-sent events: `changed`, with the newest version
//   GET  /api/compare?a=&b=   Compared: a page for a look; nothing is written
//   POST /api/compare         { a, b }; Compared: the comparison is kept, and is an entry of the list
//   POST /api/name            { id, name, tags }; Said
//   POST /api/delete          { ids }; Said
//   GET  /report/SECRET       the report of an entry, made if there is none; the list tells the address, which needs no token
//
// POST needs the token that may change: 403 for the other one.

import type { Num, Words } from '../model';

export type Kind = 'run' | 'sweep' | 'capacity' | 'comparison';

/** Of a sweep or a search the samples are those of all its runs. */
export interface Figures {
  samples: Num;
  rate_per_s: Num;
  p95_us: Num;
  error_share: Num;
}

export interface Entry extends Figures {
  id: number;
  folder: string;
  address: string;
  kind: Kind;
  state: 'ended' | 'running' | 'unfinished';
  note: { name: string; tags: string[] };
  at_ms: number;
  length_ms: Num;
  plan: string;
  /** First sentence of its verdict or answer. */
  words: Words | null;
  /** The generator was the bottleneck. */
  doubtful: boolean;
  /** The part of an answer that its figures are of. */
  of: Words | null;
  /** Of a comparison the same figures of A. */
  a: Figures | null;
  criteria: { met: number; of: number } | null;
  end: string | null;
}

export interface List {
  version: number;
  /** All entries, not only what is newer. */
  whole: boolean;
  /** Folders that are still to be read. */
  left: number;
  looked: boolean;
  entries: Entry[];
  gone: number[];
  folder: string;
  read_only: boolean;
}

export interface Said { ok: boolean; words: Words }
export interface Compared { ok: boolean; address?: string; words?: Words }
