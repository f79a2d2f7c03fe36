// How long ago something was, in words.

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago`. A moment in the future, by a clock that runs behind, counts as now. */
export function ago(thenMs: number, nowMs: number): string {
  const elapsed = nowMs - thenMs;
  for (const [unit, lengthMs] of UNITS) {
    const count = Math.floor(elapsed / lengthMs);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
