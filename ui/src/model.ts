// The data of a page, as Rust writes it (crates/report/src/model) and the page reads it.
//
// Times of day are epoch ms, durations µs, unless a name ends in _ms or _s. An unknown value is null. Strings from
// outside (labels, messages, excerpts) are plain text, which is shown only by textContent.

export interface Words { en: string; zh: string }
export type Num = number | null;

export type Page = RunPage | SweepPage | CapacityPage | ComparisonPage;

export interface RunPage {
  kind: 'run';
  /** Version of this data format. */
  form: 1;
  live: boolean;
  about: About;
  verdict: Verdict;
  criteria: Criterion[];
  totals: Totals;
  timeline: Timeline;
  labels: Label[];
  /** Sum of the labels without rows of their own; null if all labels have rows. */
  rest: { labels: number; row: Label } | null;
  causes: Cause[];
  samples: Sample[];
  classes: Class[];
  targets: WatchedHost[];
  jmeter: JMeterFigures | null;
}

export interface About {
  program: string;
  title: string;
  plan: string; plan_hash: string; run: string;
  start_ms: number; length_ms: number;
  ending: { kind: 'completed' | 'interrupted' | 'stopped_by_plan' | 'aborted' | 'unknown' | 'running'; reason: Words };
  load: { users: number; rate: Num; length_ms: Num; open: boolean };
  machine: { processors: number; memory: number; threads: number; ports: number; target_is_here: boolean };
  properties: [string, string][];
  settings: [string, string][];
  /** Notes on the plan from the check before the run. */
  notes: string[];
  /** Warnings about missing parts of the data. */
  flaws: Words[];
  /** The figures that the data contains. */
  has: { phases: boolean; slots: boolean; response: boolean; connections: boolean; classes: boolean; generator: boolean;
         users: boolean; load: boolean; targets: boolean; kept: boolean };
}

export interface Evidence { metric: Words; value: number; unit: string; interval: [number, number] | null; from_ms: number; to_ms: number }
export interface Finding {
  id: string; about: 'generator' | 'test' | 'target' | 'run'; confidence: 'certain' | 'arithmetic' | 'statistical' | 'hint';
  /** Confidence, and the part of the test, in words. */
  tags: [Words, Words];
  words: Words; evidence: Evidence[]; not_the_cause: Line | null; advice: Words; doc: string;
  /** Ids of the charts that show the finding. */
  charts: string[];
}
/** A line of a verdict. `head` is the beginning of `words`; `items` are the elements of a list. */
export interface Line {
  kind: 'doubt' | 'undecided' | 'nothing' | 'held' | 'counts' | 'checked' | 'unchecked' | 'not_the_cause';
  head: Words; words: Words; items?: Words[];
}
/** The lines are those beside the findings. */
export interface Verdict { findings: Finding[]; hidden: Finding[]; lines: Line[] }

export interface Criterion { text: string; met: boolean | null; value: Num; shown: Words; reason?: Words; of: string | null }

/** A percentile with its 95 % interval; null if there are too few samples for an interval. */
export interface Quantile { p: number; us: number; low: Num; high: Num; enough: boolean }
/** The kind of times in the figures: from the intended start (response), as criteria judge them, or from the actual start (service). */
export type Times = 'response' | 'service';
/** Service times, if the other figures are response times. */
export interface Service { mean_us: number; max_us: number; quantiles: Quantile[] }
/** Requests that succeeded by transport and status, responses that assertions checked, and those as expected; `checked` is null if unknown. */
export interface Answers { requests_succeeded: number; checked: Num; as_expected: Num; unexpected: number }
export interface Totals {
  samples: number; failed: Num; rate_per_s: number; rate_margin: Num;
  sent_bytes: number; received_bytes: number;
  times: Times;
  mean_us: number; min_us: number; max_us: number;
  quantiles: Quantile[];
  service: Service | null;
  answers: Answers | null;
  /** The generator's share of the total time, 0 to 1. `own_us` is its part of the mean time, and the mean time, µs. */
  own_share: Num; own_us: [number, number] | null;
  /** Transactions, in plans with transactions. No other figure counts them. */
  transactions: { samples: number; failed: Num } | null;
  under_way_at_end: Num;
}

/** Columns over common instants, at most 2 000. Index i is the interval that begins at at_ms[i] and is step_ms long. */
export interface Timeline {
  step_ms: number; at_ms: number[];
  /** Start of the run, if the timeline begins later. */
  start_ms?: number;
  marks: { at_ms: number; kind: string; words: Words }[];
  /** Length of the warm-up from the start, ms; null if no warm-up was found or the run never became steady. */
  warmup_ms: Num; steady: boolean | null;
  columns: Column[];
  charts: Chart[];
  heat: Heat | null;
}
/** `values` are integers; a value times `scale` is the figure in its unit. null means no figure at that instant. */
export interface Column { id: string; name: Words; unit: Unit; scale: number; values: Num[]; label: number | null }
export type Unit = 'us' | 'bytes' | 'bytes/s' | '/s' | 'share' | 'count' | 's';
/** A chart: its columns, and a caption made from the data. */
export interface Chart {
  id: string; title: Words; caption: Words; columns: string[]; log: boolean;
  /** Pairs of columns (low, high); the area between them is filled. */
  bands: [string, string][];
  page: 'overview' | 'time' | 'generator' | 'targets' | 'connections';
}
/** Counts of samples by class of time, one list of counts per instant. edges_us has one element more than there are classes. */
export interface Heat { edges_us: number[]; counts: number[][]; caption: Words }

export interface Label {
  name: string; transaction: boolean; folded: number;
  samples: number; failed: Num; rate_per_s: number;
  /** Share of the service time of all requests; null for a transaction, whose time is that of its requests. */
  share_of_time: Num;
  mean_us: number; min_us: number; max_us: number; quantiles: Quantile[]; service: Service | null;
  answers: Answers | null;
  received_bytes: number; sent_bytes: number;
  /** Mean time of each phase, µs, in order: late, room, dns, connect, tls, send, wait, receive, lag. */
  phases: Num[];
  /** Histogram on a logarithmic scale: class i is edges_us[i] to edges_us[i+1]. */
  distribution: { edges_us: number[]; counts: number[] } | null;
  /** The time at each percentile, drawn over an axis of 1/(1-p). */
  tail: { p: number[]; us: number[] } | null;
  /** Ids of the timeline columns of this label (`label.N.p95` …). */
  columns: string[];
}
export interface Cause {
  outcome: string; code: string; message: string; first_label: string; count: number; first_ms: number; last_ms: number;
  /** Number of errors at each instant of the timeline. */
  counts: number[];
  by_label: [number, number][];
}
export interface Sample {
  why: 'error' | 'slowest' | 'random'; label: number; at_ms: number; ok: boolean; code: string; message: string; cause: number | null;
  address: string;
  /** Trace id of the sample, as sent in `traceparent`. */
  trace: string | null;
  phases: Num[]; elapsed_us: number;
  request: string | null; response: string | null; cut: boolean;
}
export interface Class { kind: string; value: string; exchanges: number; errors: number; opened: number; p50_us: Num; p95_us: Num }
export interface WatchedHost { host: string; columns: string[] }

/** An object of JMeter's statistics.json. A figure that is not finite is a string. */
export interface StatisticsRow {
  transaction: string; sampleCount: number; errorCount: number; errorPct: number | string;
  meanResTime: number | string; medianResTime: number | string; minResTime: number | string; maxResTime: number | string;
  pct1ResTime: number | string; pct2ResTime: number | string; pct3ResTime: number | string;
  throughput: number | string; receivedKBytesPerSec: number | string; sentKBytesPerSec: number | string;
}
/** The tables of JMeter's dashboard. */
export interface JMeterFigures {
  /** Number of a label's last rows that percentiles use; null for all rows. */
  window: Num;
  /** Percentages of the properties pct1ResTime to pct3ResTime, as set there. */
  percentages: string[];
  /** Number of requests, not counting transactions, and number of failed requests. */
  requests: [number, number];
  total: StatisticsRow;
  statistics: StatisticsRow[];
  /** Rows of the APDEX table. In `apdex` and `top5`, the row for all labels is first. */
  apdex: { label: string; apdex: number; satisfied: number; tolerated: number; satisfied_ms: number; tolerated_ms: number }[];
  top5: { label: string; samples: number; errors: number; top: [string, number][] }[];
  errors: { message: string; count: number; of_errors: number; of_all: number }[];
  /** Number of all labels. `types` is the number of all types of errors. Not all have a row. */
  labels: number;
  types: number;
  notes: Words[];
}

export interface SweepPage {
  kind: 'sweep'; form: 1; about: About; verdict: Verdict; axis: 'users' | 'rate';
  sentences: Words[];
  points: { load: number; in_flight: number; rate_per_s: number; rate_low: Num; rate_high: Num; mean_us: number; mean_low: Num; mean_high: Num; quantiles: Quantile[];
            error_share: number; length_s: number; ramp_s: number; warmup_s: number; steady: boolean | null; stopped_by: 'precision' | 'time';
            excluded: Words | null; notes: Words[]; run: string }[];
  model: { name: 'linear' | 'plateau' | 'usl' | 'none'; words: Words; curve: [number, number][] };
  caption: Words;
  notes: Words[];
}
export interface CapacityPage {
  kind: 'capacity'; form: 1; about: About; verdict: Verdict; axis: 'users' | 'rate'; criteria: Criterion[];
  answer: { lower: Num; upper: Num; at_least: boolean };
  sentences: Words[]; notes: Words[];
  probes: { load: number; kind: Words; verdict: 'good' | 'bad' | 'doubtful'; good: number; bad: number; rate_per_s: number; in_flight: number; p50_us: number;
            p99_us: number; judged_us: Num; samples: number; length_s: number; stopped_by: 'precision' | 'time'; words: Words; run: string }[];
  /** The time that decides the search, with its limit; null if no criterion limits a time. */
  judged: { name: Words; limit_us: number } | null;
  limited_by: Words;
  caption: Words;
}
export interface ComparisonPage {
  kind: 'comparison'; form: 1; a: About; b: About;
  /** The differences, the most important first. */
  sentences: Words[];
  validity: { refuses: boolean; words: Words }[];
  criteria: Criterion[];
  /** The kind of times that were compared. */
  times: Times;
  /** Changes are relative to A; for figures with unit share, the difference of both. null means that there is no change. */
  rows: { label: string | null; metric: Words; unit: Unit; a: number; b: number; change: number | null; low: Num; high: Num; different: boolean; small: boolean; state: Words;
          more_is_worse: boolean | null; floor: number; detectable: Num }[];
  tails: { label: string | null; p: number[]; a_us: number[]; b_us: number[] }[];
  /** The judged time of both sides over the load, and the change that a criterion allows; null for two runs. */
  loads: { name: Words; at: { load: number; a_us: number; b_us: number }[]; limit: Num } | null;
  changed: { what: Words; a: string; b: string }[];
  notes: Words[];
}
