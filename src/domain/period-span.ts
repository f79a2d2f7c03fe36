// Which periods an invoice question is about.

/** Milliseconds since the epoch; `endMs` no longer belongs to it. */
export interface PeriodSpan {
  readonly fromMs: number;
  readonly endMs: number;
  /** Whether periods that are not closed are included. */
  readonly open: boolean;
}

/**
 * A closed period belongs to the span that contains its last moment, so that one which ends at midnight belongs to the day before:
 * November's to November. An open one belongs to every span that it shares a moment with.
 */
export function isInSpan(
  { startMs, endMs, closed }: { readonly startMs: number; readonly endMs: number; readonly closed: boolean },
  span: PeriodSpan,
): boolean {
  if (!closed) return span.open && startMs < span.endMs && endMs > span.fromMs;
  // One that was ended in the moment it began has no other.
  const lastMs = Math.max(startMs, endMs - 1);
  return lastMs >= span.fromMs && lastMs < span.endMs;
}
