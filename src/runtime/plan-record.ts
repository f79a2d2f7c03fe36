// Keeps the gateway's own record in the store: what plans it has, and that it runs.
import { hostname } from 'node:os';
import { limitsOf } from '../domain/plan.ts';
import type { Plan } from '../domain/plan.ts';
import type { GatewayRecord, GatewayRecords } from '../ports/gateway-records.ts';

/** Several within the minute that counts as "it runs". */
const EVERY_MS = 15_000;

export interface PlanRecordOptions {
  /** `undefined` where the store keeps none. */
  readonly records: GatewayRecords | undefined;
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

  /** Resolves when the store has it, or has not taken it: the next try is a moment away. */
  async leave(): Promise<void> {
    await this.#options.records?.leave(recordOf(this.#options.file, this.#plans)).catch(() => undefined);
  }

  /** After a reload. */
  replace(plans: ReadonlyMap<string, Plan>): void {
    this.#plans = plans;
    void this.leave();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** The record of a gateway on this host that runs by this configuration. */
export function recordOf(file: string, plans: ReadonlyMap<string, Plan>): GatewayRecord {
  return { host: hostname(), file, plans: Object.fromEntries([...plans].map(([name, plan]) => [name, limitsOf(plan)])) };
}
