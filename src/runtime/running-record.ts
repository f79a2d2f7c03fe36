// Says in the store that this gateway runs, for commands that need a store for themselves.
import { hostname } from 'node:os';
import type { GatewayRecords } from '../ports/gateway-records.ts';

/** Several times within the minute for which a record counts as running. */
const EVERY_MS = 15_000;

export class RunningRecord {
  readonly #records: GatewayRecords;
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;

  constructor(records: GatewayRecords, file: string) {
    [this.#records, this.#file] = [records, file];
    this.#timer = setInterval(() => void this.leave(), EVERY_MS).unref();
  }

  /** Resolves when the store has the record or failed to write it: the next attempt follows soon. */
  async leave(): Promise<void> {
    await this.#records.leave({ host: hostname(), file: this.#file }).catch(() => undefined);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
