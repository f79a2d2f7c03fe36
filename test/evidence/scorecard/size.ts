// How big a run is: some seconds within a test suite, what the scorecard promises, or a night.
import process from 'node:process';

export const SIZES = ['short', 'card', 'nightly'] as const;
export type Size = (typeof SIZES)[number];

export const SIZE_VARIABLE = 'LINGATE_SIZE';

/** Asked for by `npm run scorecard [-- --long]`; everything else is short. */
export const SIZE: Size = SIZES.find((size) => size === process.env[SIZE_VARIABLE]) ?? 'short';

/** A size or count for each. */
export function sized(short: number, card: number, nightly = card): number {
  return { short, card, nightly }[SIZE];
}

/** A suite beside others on a busy machine only reports times; a test that has to judge one does so in bigger runs. */
export const TIMES_JUDGED = SIZE !== 'short';

/** How long a run may take before the test counts as hanging. */
export const RUN_MS_MAX = sized(60_000, 300_000, 3_600_000);
