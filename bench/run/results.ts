// What a run leaves behind: raw numbers, as they are kept in a file and shown in table and report.
import type { Latency } from '../load/histogram.ts';
import type { Machine } from '../machine/description.ts';

/** One contestant in one round, with as many requests under way as there are connections. */
export interface ClosedSample {
  readonly answers: number;
  readonly faults: number;
  readonly perSecond: number;
  readonly cpuUsPerRequest: number;
  readonly redisUsPerRequest: number | undefined;
  readonly latency: Latency;
  /** Share of the time in which the gateway had its core. */
  readonly busy: number;
  /** Share of the time in which it could have run but somebody else had its core: noise. */
  readonly disturbed: number;
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

/** At half of a contestant's capacity, and the same rate straight to the engine. */
export interface HalfSample {
  readonly through: OpenSample;
  readonly direct: OpenSample;
}

export interface ContestantResult {
  readonly name: string;
  readonly does: string;
  readonly rounds: ClosedSample[];
  readonly steady: OpenSample[];
  readonly half: HalfSample[];
  /** The most memory that its processes together ever had resident. */
  peakMemoryKib: number;
  /** What an answer or the books were wrong about; its numbers are worth nothing then. */
  readonly faults: string[];
}

export interface BenchResult {
  readonly machine: Machine;
  readonly settings: BenchSettings;
  readonly contestants: readonly ContestantResult[];
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
