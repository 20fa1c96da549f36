// The protocol between the live page and its server.
//
// All requests carry `Authorization: Bearer TOKEN`. The token is in the fragment of the link (`#t=…`). There are no
// cookies.
//
//   GET  /                 this page (no token)
//   GET  /api/page         Start, as JSON
//   GET  /api/events       server-sent events, as below. With `Last-Event-ID: N` they continue after event N, if the server
//                          still has it; otherwise the first event is `again`
//   POST /api/control      Control, as JSON. The response is Controlled, or 403 for a read-only token
//   GET  /report/SECRET    the HTML of the report after the run. Event `end` contains the address, which needs no token
//
// Error responses: 401 for a missing or wrong token, 403 for a wrong Host or Origin, 429 with Retry-After for too many
// pages.

import type { Cause, Criterion, Num, RunPage, Times, Verdict, Words } from '../model';

export interface Start {
  page: RunPage;
  now: Now;
  read_only: boolean;
  /** Id of the newest event that `page` contains. */
  last_id: number;
  /** Commands that the run accepts. */
  controls: Control['command'][];
}

/** Figures of the last ten seconds and current values. */
export interface Now {
  at_ms: number;
  elapsed_ms: number;
  remaining_ms: Num;
  users: Num; users_wanted: Num;
  offered_per_s: Num; rate_per_s: number;
  /** The kind of times in the percentiles: the times that criteria judge. */
  times: Times;
  p50_us: Num; p95_us: Num; p99_us: Num;
  service_p95_us: Num;
  /** Share of the requests that failed. `transactions` is true if the plan has transactions, which are not counted here. */
  error_share: number;
  transactions: boolean;
  /** Shares of requests that succeeded by transport and status, and of checked responses as expected; null without assertions. */
  succeeded_share: Num;
  as_expected_share: Num;
  in_flight: Num;
  own_share: Num;
  /** The generator's part of the mean time, and the mean time, µs. */
  own_us: [number, number] | null;
  cpu: Num;
  /** CPU quota of the generator's control group: processors allowed, and share of periods in which it throttled the generator. */
  quota: { processors: number; stopped_share: number; is_limit: boolean } | null;
  labels: LabelTable;
  /** Resources that the run has used so far. */
  cost: { name: Words; value: string; note: Words }[];
  paused: boolean;
  /** The stop was requested; samples in flight finish. */
  stopping: boolean;
}

/** Labels with recent samples, those with the most samples so far first. `more` is the number of labels without a row. */
export interface LabelTable {
  rows: { name: string; transaction: boolean; folded: number; rate_per_s: number; p95_us: number; error_share: number;
          /** Share of the service time of all requests; null for a transaction, whose time is that of its requests. */
          share_of_time: Num }[];
  more: number;
  /** Length of the time that the figures cover. */
  seconds: number;
}

/** Each event has `id: N`, `event: NAME`, and one line of `data:` with JSON. */
export type Event =
  /** A second of the timeline: one value per column, in the order of the columns; null for a column without a value. */
  | { event: 'second'; data: { at_ms: number; values: Num[]; heat: number[] | null; now: Now } }
  | { event: 'verdict'; data: Verdict }
  | { event: 'criteria'; data: Criterion[] }
  /** All causes of errors so far, without their counts over time. */
  | { event: 'errors'; data: Omit<Cause, 'counts' | 'by_label'>[] }
  | { event: 'mark'; data: { at_ms: number; kind: string; words: Words } }
  /** Tells the page to load /api/page again: columns were added, or the instants became longer. */
  | { event: 'again'; data: Record<string, never> }
  /** The run has ended. `report` is the address of its report on this server, if there is one; the page opens it. */
  | { event: 'end'; data: { report: string | null } };

export type Control =
  | { command: 'users'; value: number }
  | { command: 'rate'; value: number }
  | { command: 'pause' } | { command: 'go-on' }
  | { command: 'stop' } | { command: 'stop-now' }
  | { command: 'mark'; text: string };

export interface Controlled { ok: boolean; words: Words }
