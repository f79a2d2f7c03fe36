// What the store did, in its own order: one entry per operation that was really run.
import type { RateLimited } from '../../../src/ports/ledger.ts';
import type { RefusedCaller } from '../../../src/ports/key-directory.ts';
import type { Action, Moment } from '../../support/auditor/deeds.ts';
import type { Process } from './virtual-time.ts';

export interface Entry extends Moment {
  readonly teamId: string;
  readonly action: Action;
}

/** A refusal that a gateway repeated without asking the store. */
export interface Repeated extends RefusedCaller {
  readonly gateway: Process;
  readonly refused: RateLimited;
}
