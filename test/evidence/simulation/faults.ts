// What may go wrong in a run, and when.
import type { Random } from './random.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type Fault = { readonly atMs: number } & (
  | NoiseFault
  /** Killed; another one takes its place after a while. */
  | { readonly kind: 'gateway_crash'; readonly gateway: number; readonly downMs: number }
  /** Stopped cleanly, as by SIGTERM, and restarted. */
  | { readonly kind: 'gateway_restart'; readonly gateway: number }
  | { readonly kind: 'gateway_freeze'; readonly gateway: number; readonly forMs: number }
  | { readonly kind: 'gateway_clock'; readonly gateway: number; readonly byMs: number }
  | { readonly kind: 'connection_break'; readonly gateway: number; readonly downMs: number }
  | { readonly kind: 'store_freeze'; readonly forMs: number }
  /** Everything that was answered is there again. */
  | { readonly kind: 'store_restart'; readonly downMs: number }
  /** A replica takes over: without the last writes, and with a clock of its own. */
  | { readonly kind: 'store_failover'; readonly downMs: number; readonly lostMs: number; readonly clockByMs: number }
  | { readonly kind: 'store_clock'; readonly byMs: number }
  /** The store's clock is wrong by hours to years for some seconds. */
  | { readonly kind: 'store_clock_wrong'; readonly byMs: number; readonly forMs: number }
);

/** For a while messages to and from the store are lost, duplicated, delayed or refused; each with its probability. */
export interface NoiseFault {
  readonly kind: 'noise';
  readonly forMs: number;
  readonly lost: number;
  readonly twice: number;
  readonly delayed: number;
  readonly refused: number;
}

interface FaultTerms {
  readonly gateways: number;
  readonly loadMs: number;
}

type Draw = (random: Random, gateways: number) => Fault extends infer F ? (F extends Fault ? Omit<F, 'atMs'> : never) : never;

const OF_PROCESSES: readonly Draw[] = [
  (random, gateways) => ({ kind: 'gateway_crash', gateway: random.int(0, gateways - 1), downMs: random.int(10, 1500) }),
  (random, gateways) => ({ kind: 'gateway_restart', gateway: random.int(0, gateways - 1) }),
  (random, gateways) => ({ kind: 'gateway_freeze', gateway: random.int(0, gateways - 1), forMs: random.int(100, 4000) }),
  (random, gateways) => ({
    kind: 'gateway_clock',
    gateway: random.int(0, gateways - 1),
    byMs: random.pick([-3_600_000, -2000, 2000, 3_600_000]),
  }),
  (random) => ({ kind: 'store_freeze', forMs: random.int(100, 1500) }),
];

const ON_A_NETWORK: readonly Draw[] = [
  (random) => ({
    kind: 'noise',
    forMs: random.int(200, 2000),
    lost: random.pick([0, 0.05, 0.3]),
    twice: random.pick([0, 0.1, 0.5]),
    delayed: random.pick([0, 0.1, 0.4]),
    refused: random.pick([0, 0, 0.2]),
  }),
  (random, gateways) => ({ kind: 'connection_break', gateway: random.int(0, gateways - 1), downMs: random.int(20, 600) }),
  (random) => ({ kind: 'store_restart', downMs: random.chance(0.2) ? random.int(5000, 9000) : random.int(50, 1500) }),
  (random) => ({
    kind: 'store_failover',
    downMs: random.int(100, 2000),
    lostMs: random.pick([0, 0, 20, 300]),
    clockByMs: random.pick([0, 0, -3000, -40, 40, 3000]),
  }),
  (random) => ({ kind: 'store_clock', byMs: random.pick([-2000, -10, 10, 2000]) }),
  (random) => ({
    kind: 'store_clock_wrong',
    byMs: random.pick([-1, 1]) * random.pick([2 * HOUR_MS, 35 * DAY_MS, 500 * DAY_MS, 3653 * DAY_MS]),
    forMs: random.int(20, 5000),
  }),
];

const DRAWS = [...OF_PROCESSES, ...ON_A_NETWORK];

/** Later than the longest loss in a failover, so that the teams are never lost. */
const FIRST_AT_MS = 400;

export function drawFaults(random: Random, { gateways, loadMs }: FaultTerms): Fault[] {
  let lastAtMs = FIRST_AT_MS;
  const faults = Array.from({ length: random.int(1, 6) }, () => {
    // Often close together: the next one meets the consequences of the previous one.
    const atMs = random.chance(0.5) ? lastAtMs + random.int(0, 1500) : random.int(FIRST_AT_MS, loadMs + 500);
    lastAtMs = atMs;
    return { ...random.pick(DRAWS)(random, gateways), atMs };
  });
  if (random.chance(0.2)) faults.push(...drawTogether(random, gateways, loadMs));
  return faults.toSorted((one, other) => one.atMs - other.atMs);
}

/** Two faults that rarely coincide, and that some bugs need both of. */
function drawTogether(random: Random, gateways: number, loadMs: number): Fault[] {
  const atMs = random.int(FIRST_AT_MS, loadMs);
  const gateway = random.int(0, gateways - 1);
  const outage = random.pick<Fault>([
    { kind: 'store_restart', downMs: random.int(6000, 9000), atMs },
    { kind: 'store_freeze', forMs: random.int(6000, 9000), atMs },
  ]);
  const during = random.pick<Fault>([
    { kind: 'gateway_restart', gateway, atMs: atMs + random.int(0, 500) },
    { kind: 'gateway_clock', gateway, byMs: 3_600_000, atMs: atMs + random.int(0, 2000) },
  ]);
  return [outage, during];
}
