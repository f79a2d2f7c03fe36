// Maintains the gateway's record in the store: its plans, and the fact that it is running.
import { hostname } from 'node:os';
import { limitsOf } from '../domain/plan.ts';
import type { Plan } from '../domain/plan.ts';
import type { GatewayRecord, GatewayRecords } from '../ports/gateway-records.ts';

/** Several times within the minute for which a record counts as running. */
const EVERY_MS = 15_000;

interface PlanRecordOptions {
  readonly records: GatewayRecords;
  readonly file: string;
}

export class PlanRecord {
  readonly #options: PlanRecordOptions;
  readonly #timer: NodeJS.Timeout;
  #plans: ReadonlyMap<string, Plan>;

  constructor(options: PlanRecordOptions, plans: ReadonlyMap<string, Plan>) {
    this.#options = options;
    this.#plans = plans;
    this.#timer = setInterval(() => void this.leave(), EVERY_MS);
    this.#timer.unref();
  }

  /** Resolves when the store has the record or failed to write it: the next attempt follows soon. */
  async leave(): Promise<void> {
    await this.#options.records.leave(recordOf(this.#options.file, this.#plans)).catch(() => undefined);
  }

  /** Called after a reload. */
  replace(plans: ReadonlyMap<string, Plan>): void {
    this.#plans = plans;
    void this.leave();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** The record of a gateway on this host with this configuration. */
function recordOf(file: string, plans: ReadonlyMap<string, Plan>): GatewayRecord {
  return { host: hostname(), file, plans: Object.fromEntries([...plans].map(([name, plan]) => [name, limitsOf(plan)])) };
}
