// What was sent to engines whose characters are limited: counted in the store over all gateways.
import type { Period } from '../domain/period.ts';
import type { WindowName } from '../domain/window-limits.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** Characters that a process has sent to an engine, and not reported before. */
export interface SentCharacters {
  readonly engine: string;
  readonly cap: EngineCap;
  /** The process, by a name of its own. */
  readonly process: string;
  /** The process's reports for this engine, from 1. A repeated report counts once. */
  readonly report: number;
  /** Negative if the engine has billed less for a file than was reported before. */
  readonly characters: number;
  /** Whether an event reports that the limit is reached. */
  readonly reports: boolean;
}

/** What an engine may cost: so many characters in each window, counted over all gateways. */
export interface EngineCap {
  readonly per: WindowName;
  /** Characters, at least 1. */
  readonly most: number;
}

export interface EngineUsed extends Period {
  /** In this window, of all processes. */
  readonly characters: number;
  /** By the store's clock. */
  readonly nowMs: number;
  /** This report is the first in the window by which the limit is reached. */
  readonly reachesNow: boolean;
}

export interface EngineUse {
  /** Adds to what was used in the window that is running. After `unavailable`, repeat it. */
  add(sent: SentCharacters): Promise<EngineUsed | StoreUnavailable>;
}
