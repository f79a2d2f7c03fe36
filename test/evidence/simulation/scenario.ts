// A run's scenario, drawn from its seed: teams, gateways, load, and what goes wrong when.
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { GENEROUS_QUOTA } from '../../../src/testing/store/team-under-test.ts';
import { drawFaults } from './faults.ts';
import type { Fault } from './faults.ts';
import type { Random } from './random.ts';
import { drawTagPlan } from './tags.ts';
import type { TagPlan } from './tags.ts';
import { drawBeginning, drawWindows } from './windows.ts';

export interface Scenario {
  /** The wall clock when the run begins. */
  readonly beginningMs: number;
  readonly gateways: number;
  readonly teams: readonly TeamPlan[];
  /** Requests arrive within `loadMs`. */
  readonly requests: number;
  readonly loadMs: number;
  readonly engineTimeoutMs: number;
  readonly leaseMs: number;
  /** A request's overall deadline. */
  readonly requestMs: number;
  readonly storeLatencyMs: number;
  readonly engineLatencyMs: number;
  /** How long an engine call waits for others to share it; `undefined` is never. */
  readonly batchWaitMs: number | undefined;
  /** Whether some answers cannot be written, which is a bug of a plugin. */
  readonly brokenAnswers: boolean;
  /** How often operators change something, per second. */
  readonly changesPerSecond: number;
  /** The same for limits of keys; `undefined` if keys have none. */
  readonly keyChangesPerSecond: number | undefined;
  /** Whether teams and keys have limits by minute to month, which operators change. */
  readonly hasWindows: boolean;
  /** `undefined` if requests carry no tags. */
  readonly tags: TagPlan | undefined;
  readonly faults: readonly Fault[];
}

interface TeamPlan {
  readonly limits: TeamLimits;
  readonly balanceMicro: number;
  readonly keys: number;
}

/** Whatever is drawn from the later ones leaves runs without it as they are. */
export interface Draws {
  readonly random: Random;
  /** Everything about limits of keys. */
  readonly keyRandom: Random;
  /** The same for limits by minute to month, of teams and keys. */
  readonly windowRandom: Random;
  /** Tags and their settings. */
  readonly tagRandom: Random;
  /** Who makes the operators' changes. */
  readonly changeRandom: Random;
}

export const COMMAND_TIMEOUT_MS = 500;

export function drawScenario({ random, keyRandom, windowRandom, tagRandom }: Draws): Scenario {
  const gateways = random.int(1, 3);
  const loadMs = random.int(1500, 8000);
  const engineTimeoutMs = random.pick([300, 1000, 2000]);
  const faultless = random.chance(0.2);
  const hasWindows = windowRandom.chance(0.6);
  return {
    beginningMs: drawBeginning(windowRandom),
    hasWindows,
    tags: drawTagPlan(tagRandom),
    gateways,
    teams: Array.from({ length: random.int(1, 3) }, () => drawTeam(random, windowRandom, hasWindows)),
    requests: random.int(10, 90),
    loadMs,
    engineTimeoutMs,
    // The shortest that the configuration allows, or one that leaves time to settle after an outage.
    leaseMs: 2 * engineTimeoutMs + random.pick([1000, 6000, 6000, 12_000]),
    requestMs: 2 * engineTimeoutMs + random.pick([1000, 3000, 10_000]),
    storeLatencyMs: random.pick([0.2, 2, 20]),
    engineLatencyMs: random.pick([1, 50, 400]),
    batchWaitMs: random.chance(0.4) ? undefined : random.pick([0, 5, 40]),
    brokenAnswers: random.chance(0.15),
    changesPerSecond: random.pick([0, 0.5, 2]),
    keyChangesPerSecond: keyRandom.chance(0.4) ? undefined : keyRandom.pick([0, 1, 4]),
    faults: faultless ? [] : drawFaults(random, { gateways, loadMs }),
  };
}

function drawTeam(random: Random, windowRandom: Random, hasWindows: boolean): TeamPlan {
  const billing = random.pick(['quota', 'credit'] as const);
  const rate = random.pick([1, 2, 5, 20, 1000]);
  const limits: TeamLimits = {
    ...GENEROUS_QUOTA,
    billing,
    // A low rate hardly leaves anything for other limits to refuse.
    requestsPerSecond: hasWindows && windowRandom.chance(0.6) ? 1000 : rate,
    maxCharactersPerRequest: random.pick([40, 10_000]),
    characterLimit: billing === 'credit' ? 0 : random.pick([60, 600, 1_000_000]),
    overageCharacters: billing === 'credit' ? 0 : random.pick([0, 13]),
    overageCapMinor: 5,
    minorPerMillion: random.pick([1, 2500, 333_333]),
    testAllowance: windowRandom.pick([0, 0, 0, 30, 500]),
    currency: 'EUR',
    period: random.pick(['P1M', 'P1M', 'PT3S']),
    windows: hasWindows && windowRandom.chance(0.7) ? drawWindows(windowRandom) : '',
  };
  const balanceMicro = billing === 'credit' ? random.pick([20, 40, 300, 1_000_000]) * limits.minorPerMillion + random.int(0, 5) : 0;
  return { limits, balanceMicro, keys: random.int(1, 3) };
}
