// Formats metrics with three significant digits and a suitable unit.

import type { Num, Times, Unit } from './model';
import { word } from './language';

export const NONE = '–';

export function digits(value: number, n = 3): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 10 ** n) return Math.round(value).toLocaleString('en-US').replace(/,/g, '\u202f');
  const places = Math.max(0, n - 1 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(Math.min(places, 6))));
}

export function count(value: Num): string {
  return value === null ? NONE : Math.round(value).toLocaleString('en-US').replace(/,/g, '\u202f');
}

/** Formats a duration in µs with a suitable unit. */
export function time(us: Num): string {
  if (us === null) return NONE;
  if (us >= 120e6) return `${digits(us / 60e6)} min`;
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1000) return `${digits(us / 1000)} ms`;
  return `${digits(us)} µs`;
}

export function bytes(value: Num): string {
  if (value === null) return NONE;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${digits(value)} ${units[unit]}`;
}

export function share(value: Num): string {
  if (value === null) return NONE;
  const percent = value * 100;
  return percent !== 0 && Math.abs(percent) < 0.01 ? '< 0.01 %' : `${digits(percent)} %`;
}

/** Formats a fraction as percent, cut to three decimals, so that a fraction below 1 is never shown as 100 %. */
export function cutShare(value: Num): string {
  return value === null ? NONE : `${Number((Math.floor(value * 100_000 + 1e-4) / 1000).toFixed(3))} %`;
}

export function figure(value: Num, unit: Unit | string): string {
  if (value === null) return NONE;
  switch (unit) {
    case 'us': return time(value);
    case 's': return time(value * 1e6);
    case 'ms': return time(value * 1e3);
    case 'bytes': return bytes(value);
    case 'bytes/s': return `${bytes(value)}/s`;
    case '/s': return `${digits(value)}/s`;
    case 'share': return share(value);
    case 'count': case '': return digits(value, 4);
    default: return `${digits(value)} ${unit}`;
  }
}

/** Returns the heading of a percentile of response or service times, such as `Response p95`. */
export function timed(times: Times, figure: string): string {
  return word(times === 'response' ? 'response_figure' : 'service_figure', figure);
}

/** Returns the heading of the mean response or service time. `maxOf` returns the heading of the largest one. */
export const meanOf = (times: Times): string => word(times === 'response' ? 'response_mean' : 'service_mean');
export const maxOf = (times: Times): string => word(times === 'response' ? 'response_max' : 'service_max');

/** Returns the share of samples that failed; null if it is unknown. */
export const failedShare = (of: { samples: number; failed: Num }): Num => (of.failed === null ? null : of.failed / Math.max(1, of.samples));

/** Formats a time since the start of the run as `mm:ss` or `h:mm:ss`. */
export function elapsed(ms: number): string {
  const total = Math.max(0, Math.round(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${two(m)}:${two(s)}`;
}

/** Formats a time of day in the reader's time zone. */
export function clock(ms: number): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function day(ms: number): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms)}`;
}

/** Formats a duration in ms in words. */
export function length(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? word('hours', h, m) : word('minutes', m, s);
}
