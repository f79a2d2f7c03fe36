// Rounds in which every contestant is measured once, in sequence, so that noise affects all that are compared.
import type { Arena } from './arena.ts';
import type { Patience } from './calm.ts';
import { note } from './entrant.ts';
import type { Entrant } from './entrant.ts';
import { measureClosed } from './measure.ts';
import type { Progress } from './bench.ts';

interface RoundLengths {
  readonly closedMs: number;
  readonly load: 'own' | 'autocannon';
}

export async function closedRound(
  arena: Arena,
  entrants: readonly Entrant[],
  round: number,
  patience: Patience,
  lengths: RoundLengths,
): Promise<string> {
  const seen: string[] = [];
  for (const entrant of entrants) {
    const { result, calmness } = await patience.calmest(async () => {
      const measured = await measureClosed(arena.load, entrant.running, entrant.target, { durationMs: lengths.closedMs, by: lengths.load });
      note(entrant, measured);
      return { result: measured.sample, waited: measured.waited };
    });
    entrant.result.rounds.push({ round, ...result, calmness });
    seen.push(`${entrant.result.name} ${result.cpuUsPerRequest.toFixed(1)}${calmness.isCalm ? '' : '?'}`);
  }
  return seen.join(', ');
}

interface ExtraRounds {
  readonly first: number;
  readonly roundsMax: number;
  readonly msMax: number;
  /** Names of those whose figures vary too much to be meaningful. */
  readonly unsettled: () => ReadonlySet<string>;
}

/** More rounds of those, until their figures agree or time is up. */
export async function extraRounds(
  arena: Arena,
  entrants: readonly Entrant[],
  { first, roundsMax, msMax, unsettled }: ExtraRounds,
  patience: Patience,
  lengths: RoundLengths,
  progress: Progress,
): Promise<void> {
  const until = performance.now() + msMax;
  for (let round = first; round < first + roundsMax && performance.now() < until; round++) {
    const names = unsettled();
    const again = entrants.filter(({ result }) => names.has(result.name));
    if (again.length === 0) return;
    progress(`round ${round}, repeated because their figures vary: ${await closedRound(arena, again, round, patience, lengths)}`);
  }
}
