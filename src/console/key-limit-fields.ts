// The limits of a key or a tag in the console: as form fields, how these are read, and as short text.
import { limitsReport } from '../admin/reports.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { judgeLimits, LIMIT_NAMES } from '../domain/given-key-limits.ts';
import type { LimitName } from '../domain/given-key-limits.ts';
import { readWindowLimit, windowTexts } from '../domain/given-windows.ts';
import type { KeyLimitChange, KeyLimits } from '../domain/key-limits.ts';
import { SCOPES } from '../domain/scopes.ts';
import { NO_WINDOWS } from '../domain/window-limits.ts';
import { areaField, textField } from './form.ts';
import type { FieldFaults, FieldTexts, Form } from './form.ts';
import { count } from './shown.ts';

const NAMES = Object.keys(LIMIT_NAMES) as LimitName[];

/** The texts in the fields of these limits; empty if the key has no such limit. */
export function limitTexts(limits: KeyLimits): Form {
  const { expires_at = '', requests_per_second = '', characters = '', allowed_addresses = [], scopes = [] } = limitsReport(limits);
  const windows = limits.windows ?? NO_WINDOWS;
  const texts: Record<string, string> = {
    expires_at,
    requests_per_second: String(requests_per_second),
    characters: String(characters),
    allowed_addresses: allowed_addresses.join('\n'),
    scopes: scopes.join('\n'),
    limits: windows.replaceAll(' ', '\n'),
  };
  return (name) => texts[name] ?? '';
}

const MORE = { autocomplete: 'off', maxlength: 40 } as const;
const FIGURE = { ...MORE, inputmode: 'numeric' } as const;
const WINDOWS = {
  hint: 'One per line: requests=600/minute or characters=1000000/day (minute, hour, day, week, month; UTC). Empty: none.',
  rows: 3,
} as const;

export function limitFields(texts: FieldTexts): Html {
  const until = { hint: 'With a time zone: 2027-01-31T18:00:00Z. Empty: never.', more: MORE };
  const rate = { hint: "Within the team's rate. Empty: only the team's rate applies.", more: FIGURE };
  const characters = { hint: "Within the team's quota or credit. Empty: only the team's applies.", more: FIGURE };
  const addresses = { hint: 'One per line: 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32. Empty: any.', rows: 4 };
  const scopes = { hint: `One per line: ${SCOPES.join(', ')} or forward:NAME. Empty: everything.`, rows: 4 };
  return html`${textField(texts, 'expires_at', 'Expires at', until)} ${textField(texts, 'requests_per_second', 'Requests per second', rate)}
  ${textField(texts, 'characters', 'Characters per period', characters)} ${areaField(texts, 'limits', 'Limits by time', WINDOWS)}
  ${areaField(texts, 'allowed_addresses', 'Allowed addresses', addresses)} ${areaField(texts, 'scopes', 'Scopes', scopes)}`;
}

/** Collapsed, unless there is something in it to see. */
export function foldedLimits(texts: FieldTexts): Html {
  const shown = NAMES.some((name) => texts.form(name) !== '' || texts.faults[name] !== undefined);
  return html`<details ${shown ? html` open` : undefined}>
    <summary>Limits</summary>
    ${limitFields(texts)}
  </details>`;
}

/** The changes of `current` in the fields; a value that was not edited is not checked again. */
export function readLimitFields(form: Form, current: KeyLimits, nowMs: number): { readonly change: KeyLimitChange } | FieldFaultsFound {
  const shown = limitTexts(current);
  const change: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const name of NAMES) {
    const sent = linesOf(form(name));
    if (sent.join('\n') === shown(name)) continue;
    if (sent.length === 0) {
      change[LIMIT_NAMES[name]] = null;
      continue;
    }
    const judged = judgeField(name, sent, nowMs);
    if (typeof judged === 'string') faults[name] = judged;
    else Object.assign(change, judged);
  }
  return Object.keys(faults).length === 0 ? { change } : { faults };
}

/** The limit in a field that is not empty, or what is wrong with it. */
function judgeField(name: LimitName, sent: readonly string[], nowMs: number): KeyLimits | string {
  const judged = judgeLimits({ [name]: givenBy(name, sent) }, nowMs);
  if (!('fault' in judged)) return judged.limits;
  if (name === 'limits') return windowFault(sent) ?? `This ${judged.fault}.`;
  return judged.at === undefined ? `This ${judged.fault}.` : `“${sent[judged.at]}” ${judged.fault}.`;
}

function windowFault(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const limit = readWindowLimit(line);
    if ('fault' in limit) return `“${line}” ${limit.fault}.`;
  }
  return undefined;
}

interface FieldFaultsFound {
  readonly faults: FieldFaults;
}

/** A line that is not a limit is left as it is, for the fault to name it. */
function givenBy(name: LimitName, lines: readonly string[]): unknown {
  if (name === 'allowed_addresses' || name === 'scopes') return lines;
  if (name === 'limits') return lines.map(readWindowLimit);
  const text = lines.join(' ');
  return name !== 'expires_at' && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** `5/s, 100,000 characters, 2 ranges, until 2027-01-31`; a dash if there are none. */
export function limitsSummary(limits: KeyLimits): string {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from, scopes } = limitsReport(limits);
  const parts = [
    rate === undefined ? '' : `${count(rate)}/s`,
    characters === undefined ? '' : `${count(characters)} characters`,
    ...windowTexts(limits.windows ?? NO_WINDOWS, count),
    from === undefined ? '' : from.length === 1 ? `from ${from[0]}` : `from ${from.length} ranges`,
    scopes === undefined ? '' : scopes.length === 1 ? `only ${scopes[0]}` : `${scopes.length} scopes`,
    until === undefined ? '' : `until ${until.slice(0, 10)}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '–' : parts.join(', ');
}
