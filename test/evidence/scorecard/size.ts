// The size of a run: some seconds within a test suite, the scorecard's promise, or a night.
import process from 'node:process';

export const SIZES = ['short', 'card', 'nightly'] as const;
export type Size = (typeof SIZES)[number];

export const SIZE_VARIABLE = 'LINGATE_SIZE';

/** Set by `npm run scorecard [-- --long]`; everything else is short. */
export const SIZE: Size = SIZES.find((size) => size === process.env[SIZE_VARIABLE]) ?? 'short';

/** A size or count for each. */
export function sized(short: number, card: number, nightly = card): number {
  return { short, card, nightly }[SIZE];
}

/** A suite among others on a busy machine only reports times; tests that judge them do so in larger runs. */
export const TIMES_JUDGED = SIZE !== 'short';

/** How long a run may take before the test counts as hanging. */
export const RUN_MS_MAX = sized(60_000, 300_000, 3_600_000);
