// The table of limits in the operator's manual, in the order in which they are judged.
import { LIMITS, WINDOWS } from '../domain/window-limits.ts';
import type { LimitKind } from '../domain/window-limits.ts';

const TIMES = { second: 'second, sliding', period: 'the period' } as const;

/** A row for each kind of limit; those of windows, which follow each other, have one for whatever they count. */
export function limitTable(): string {
  const rows = LIMITS.map(rowOf);
  return ['| `limit_of` | counts | in | answer | in rate limit fields |', '|---|---|---|---|---|', ...new Set(rows)].join('\n');
}

function rowOf({ name, per, counts, code, policy }: LimitKind): string {
  const isWindow = WINDOWS.some((window) => window === per);
  const shown = (text: string): string => `\`${isWindow ? text.replace(per!, 'PER') : text}\``;
  const time = isWindow ? `\`PER\`: ${WINDOWS.join(', ')}` : per === 'second' || per === 'period' ? TIMES[per] : 'no certain time';
  const field = policy === undefined ? '' : shown(policy);
  return `| ${shown(name)} | ${counts} | ${time} | ${statusOf(code)} \`${code}\` | ${field} |`;
}

function statusOf(code: LimitKind['code']): number {
  return code === 'rate_limited' ? 429 : 402;
}
