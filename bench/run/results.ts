// The results of a run: raw numbers, as they are kept in a file and shown in table and report.
import type { Latency } from '../load/histogram.ts';
import type { Machine } from '../machine/description.ts';
import type { Calmness } from './calm.ts';

/** One contestant in one round, with as many requests in flight as there are connections. */
export interface ClosedSample {
  /** Samples of the same round were taken side by side: ratios are between them. */
  readonly round: number;
  readonly answers: number;
  readonly faults: number;
  readonly perSecond: number;
  readonly cpuUsPerRequest: number;
  readonly redisUsPerRequest: number | undefined;
  readonly latency: Latency;
  /** Share of the time in which the gateway had its core. */
  readonly busy: number;
  readonly calmness: Calmness;
}

/** At a steady rate, latency from the moment each request was due. */
export interface OpenSample {
  readonly wantedPerSecond: number;
  readonly answers: number;
  readonly faults: number;
  readonly latency: Latency;
  /** The load's own: how late it sent. */
  readonly latenessP99Ms: number;
}

/** The same through a contestant and directly to the engine, one after the other. */
export interface AddedSample {
  /** Requests a second; with one connection as many as it achieves. */
  readonly perSecond: number;
  readonly through: Latency;
  readonly direct: Latency;
  readonly calmness: Calmness;
}

export interface ContestantResult {
  readonly name: string;
  readonly does: string;
  readonly rounds: ClosedSample[];
  readonly steady: OpenSample[];
  /** At half of its own capacity. */
  readonly half: AddedSample[];
  /** One request at a time. */
  readonly single: AddedSample[];
  /** The peak of resident memory, for all its processes together. */
  peakMemoryKib: number;
  /** Wrong answers or accounts; they make its numbers worthless. */
  readonly faults: string[];
}

/** Bytes that a store keeps. */
export interface StoreMemory {
  readonly store: string;
  /** For a team with one key. */
  readonly perTeam: number;
  /** For a remembered id that was charged once. */
  readonly perId: number;
  /** For the same, once everything is forgotten: what a team that was used keeps. */
  readonly leftPerTeam: number;
}

export interface BenchResult {
  readonly machine: Machine;
  readonly settings: BenchSettings;
  readonly contestants: readonly ContestantResult[];
  readonly memory: readonly StoreMemory[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

export interface BenchSettings {
  readonly load: 'own' | 'autocannon';
  readonly connections: number;
  readonly teams: number;
  readonly rounds: number;
  readonly closedMs: number;
  readonly openMs: number;
  readonly steadyPerSecond: number;
  readonly bodyBytes: number;
}
