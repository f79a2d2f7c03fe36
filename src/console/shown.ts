// Formats figures for people: counts, money, times, the used share of a limit, plans' numbers.
import { span } from '../admin/fields.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { amountText } from '../domain/money.ts';
import { windowTexts } from '../domain/window-limits.ts';
import { anchorOf, lengthOf, rfc3339 } from '../domain/period.ts';

const counts = new Intl.NumberFormat('en');
const decimals = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const shorts = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const shares = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const SECOND_MS = 1000;

export function count(value: number): string {
  return counts.format(value);
}

export function teamsText(number: number): string {
  return number === 1 ? 'one team' : `${count(number)} teams`;
}

/** A rate or the like: at most one decimal. */
function decimal(value: number): string {
  return decimals.format(value);
}

/** Short, for figures that change all the time: `12.4`, `8,420`, `82.3K`, `194K`. */
export function compact(value: number): string {
  return value < 10_000 ? decimals.format(value) : shorts.format(value);
}

/** Of a file: `824 B`, `12.4 kB`, `3.1 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${count(bytes)} B`;
  return bytes < 999_950 ? `${decimal(bytes / 1000)} kB` : `${decimal(bytes / 1_000_000)} MB`;
}

/** A share as a percentage; only all of it is 100 %, and only none of it 0 %. */
export function percentage(part: number, whole: number): string {
  const share = (part / whole) * 100;
  if (part > 0 && share < 0.1) return '< 0.1 %';
  return part < whole && part > 0 ? `${shares.format(Math.min(share, 99.9))} %` : `${part === 0 ? 0 : 100} %`;
}

/** A duration: `0.4 ms`, `41 ms`, `1.3 s`. */
export function duration(ms: number): string {
  if (ms >= SECOND_MS) return `${decimal(ms / SECOND_MS)} s`;
  return `${ms < 10 ? decimal(ms) : count(Math.round(ms))} ms`;
}

/** `1,250.00 EUR`: a currency has its own number of decimals. */
export function money(minor: number, currency: string): string {
  const [whole = '', part] = amountText(minor, currency).split('.');
  return `${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}${part === undefined ? '' : `.${part}`} ${currency}`;
}

/** How long ago, with the exact time as a tooltip. */
export function ago(atMs: number, nowMs: number): Html {
  return html`<time datetime="${rfc3339(atMs)}" title="${rfc3339(atMs)}">${span(Math.max(0, nowMs - atMs))} ago</time>`;
}

/** `14:03` or `14:03:27`, in UTC. */
export function clock(atMs: number, to: 'minutes' | 'seconds'): Html {
  return html`<time datetime="${rfc3339(atMs)}">${rfc3339(atMs).slice(11, to === 'minutes' ? 16 : 19)}</time>`;
}

/** `2026-11-22`, in UTC. */
export function day(atMs: number): Html {
  return html`<time datetime="${rfc3339(atMs)}" title="${rfc3339(atMs)}">${rfc3339(atMs).slice(0, 10)}</time>`;
}

/** `2026-11-22 14:03:27`, in UTC. */
export function moment(atMs: number): Html {
  const text = rfc3339(atMs);
  return html`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 19)}</time>`;
}

/** A bar with its figures beside it; `what` names it for screen readers. */
export function usageBar(what: string, used: number, limit: number): Html {
  const share = limit === 0 ? (used === 0 ? 0 : 1) : used / limit;
  // A meter with a maximum of 0 is not drawn.
  const max = Math.max(limit, 1);
  return html`<span class="bar">
    <meter min="0" max="${max}" low="${max * 0.8}" high="${max * 0.95}" optimum="0" value="${Math.min(used, max)}" aria-label="${what}">
      ${percent(share)}
    </meter>
    <span>${count(used)} of ${count(limit)}</span>
  </span>`;
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

const PERIODS: Readonly<Record<string, string>> = { P1D: 'day', P7D: 'week', P1W: 'week', P1M: 'month', P3M: 'quarter', P1Y: 'year' };

/** After an amount: `a month`, `a calendar month`, or the duration itself: `per PT30S`. */
export function periodText(rule: string): string {
  const length = lengthOf(rule);
  const calendar = anchorOf(rule) === 'calendar' ? 'calendar ' : '';
  return PERIODS[length] === undefined ? `per ${calendar}${length}` : `a ${calendar}${PERIODS[length]}`;
}

/** One of a plan's numbers, by its name in reports; amounts are in the plan's currency. */
export function numberText(number: string, value: string | number | null, currency: string): string {
  if (value === null) return 'none';
  if (typeof value === 'string') return number === 'limits' ? windowTexts(value, count).join(', ') : value;
  return number.includes('minor') ? money(value, currency) : count(value);
}
