// What the live page and its server say to each other.
//
// All requests carry `Authorization: Bearer TOKEN`; the token is in the fragment of the link (`#t=…`). Nothing uses cookies.
//
//   GET  /              this page (no token)
//   GET  /api/page      Start, as JSON
//   GET  /api/events    server-sent events, as below; `Last-Event-ID: N` goes on behind event N, if the server still has it;
//                       otherwise the first event is `again`
//   POST /api/control   Control, as JSON; the answer is Controlled. 403 for a read-only token
//   GET  /report/SECRET the report's HTML once the run has ended; event `end` tells the address, which needs no token
//
// Answers: 401 for a missing or wrong token, 403 for a wrong Host or Origin, 429 with Retry-After when there are too many pages.

import type { Cause, Criterion, Num, RunPage, Times, Verdict, Words } from '../model';

export interface Start {
  page: RunPage;
  now: Now;
  read_only: boolean;
  /** The newest event that `page` has in it. */
  last_id: number;
  /** What the run lets one control. */
  controls: Control['command'][];
}

/** Figures of the last ten seconds, and of the moment. */
export interface Now {
  at_ms: number;
  elapsed_ms: number;
  remaining_ms: Num;
  users: Num; users_wanted: Num;
  offered_per_s: Num; rate_per_s: number;
  /** The times that the percentiles are of. */
  times: Times;
  p50_us: Num; p95_us: Num; p99_us: Num;
  service_p95_us: Num;
  /** Of requests; with `transactions` the plan has transactions, too, which are not among them. */
  error_share: number;
  transactions: boolean;
  /** Shares of the requests that succeeded by transport and status, and of the checked answers that were as expected; null without assertions. */
  succeeded_share: Num;
  as_expected_share: Num;
  in_flight: Num;
  own_share: Num;
  /** The generator's part of the mean time, and that time, µs. */
  own_us: [number, number] | null;
  cpu: Num;
  /** The CPU quota of the generator's control group: the processors that it allows, the share of periods in which it stopped the generator. */
  quota: { processors: number; stopped_share: number; is_limit: boolean } | null;
  /** What the run has taken so far. */
  cost: { name: Words; value: string; note: Words }[];
  paused: boolean;
  /** It was asked to end: samples in flight finish. */
  stopping: boolean;
}

/** Each event has `id: N`, `event: NAME`, and one line of `data:` with JSON. */
export type Event =
  /** A second of the timeline: a value for each of its columns, by their order; null where there is none. */
  | { event: 'second'; data: { at_ms: number; values: Num[]; heat: number[] | null; now: Now } }
  | { event: 'verdict'; data: Verdict }
  | { event: 'criteria'; data: Criterion[] }
  /** All causes so far, without their course. */
  | { event: 'errors'; data: Omit<Cause, 'counts' | 'by_label'>[] }
  | { event: 'mark'; data: { at_ms: number; kind: string; words: Words } }
  /** The page must ask for /api/page again: columns were added, or the timeline became coarser. */
  | { event: 'again'; data: Record<string, never> }
  /** The run has ended; `report` is the address of its report on this server, if there is one: the page goes there. */
  | { event: 'end'; data: { report: string | null } };

export type Control =
  | { command: 'users'; value: number }
  | { command: 'rate'; value: number }
  | { command: 'pause' } | { command: 'go-on' }
  | { command: 'stop' } | { command: 'stop-now' }
  | { command: 'mark'; text: string };

export interface Controlled { ok: boolean; words: Words }
