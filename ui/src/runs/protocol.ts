// The protocol between the page with a folder's runs and its server.
//
// All requests carry `Authorization: Bearer TOKEN`, like those of the live page.
//
//   GET  /                        this page (no token)
//   GET  /api/runs?since=N        List: the changes since version N
//   GET  /api/events              server-sent events: `changed`, with the newest version
//   GET  /api/compare?a=&b=       Compared: a page to view; nothing is stored
//   POST /api/compare             { a, b }; Compared: the comparison is stored and becomes an entry of the list
//   POST /api/name                { id, name, tags }; Said
//   POST /api/delete              { ids }; Said
//   GET  /report/SECRET           the report of an entry, created if missing. The list contains the address, which needs
//                                 no token
//
// POST requires the token with write access: 403 for the read-only token.

import type { Num, Words } from '../model';

export type Kind = 'run' | 'sweep' | 'capacity' | 'comparison';

/** Figures of an entry. For a sweep or a search, `samples` is the sum over all its runs. */
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
  /** First sentence of the entry's verdict or answer. */
  words: Words | null;
  /** True if the generator was the bottleneck. */
  doubtful: boolean;
  /** The part of an answer that the figures are about. */
  of: Words | null;
  /** Figures of side A, for a comparison. */
  a: Figures | null;
  /** Numbers of criteria that were met, that the samples do not decide, and of all criteria. */
  criteria: { met: number; of: number; undecided?: number } | null;
  /** The time of the run's first criterion on a time of all requests. */
  judged: { name: Words; us: number; limit_us: number } | null;
  /** Version of the program that made the run. */
  program: string | null;
  end: string | null;
}

export interface List {
  version: number;
  /** True if `entries` contains all entries, not only the changes. */
  whole: boolean;
  /** Number of folders that have not been read yet. */
  left: number;
  looked: boolean;
  entries: Entry[];
  gone: number[];
  folder: string;
  read_only: boolean;
}

export interface Said { ok: boolean; words: Words }
export interface Compared { ok: boolean; address?: string; words?: Words }
