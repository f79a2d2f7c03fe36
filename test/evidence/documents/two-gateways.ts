// Two gateway processes with documents on one store, each with an engine address of its own, that are killed and replaced.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import type { StorePlace } from '../../support/store-place.ts';
import type { Seeded } from '../faults/seeded.ts';
import type { MarkingEngine } from './marking-engine.ts';
import { PLAN } from './document-client.ts';

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));
/** For a call of the engine: some never end. */
const ENGINE_MS = 1000;
const STORE_MS = 5000;

export interface Gateway {
  readonly name: string;
  readonly port: number;
  /** From the moment in which its end is ordered. */
  isKilled: boolean;
}

export class TwoGateways {
  readonly #place: StorePlace;
  readonly #engine: MarkingEngine;
  readonly #running: (GatewayProcess | undefined)[] = [];
  readonly #gateways: Gateway[] = [];
  readonly #output: string[] = [];
  #started = 0;

  constructor(place: StorePlace, engine: MarkingEngine) {
    this.#place = place;
    this.#engine = engine;
  }

  async start(): Promise<void> {
    await Promise.all([this.#replace(0), this.#replace(1)]);
  }

  /** One that is not killed; waits for none. */
  any(random: Seeded): Gateway | undefined {
    const living = this.#gateways.filter(({ isKilled }) => !isKilled);
    return living.length === 0 ? undefined : random.oneOf(living);
  }

  /** As a crash would; resolves when another has taken its place. */
  async kill(index: number): Promise<void> {
    this.#gateways[index]!.isKilled = true;
    await this.#running[index]!.end('SIGKILL');
    this.#output.push(this.#running[index]!.output());
    await this.#replace(index);
  }

  /** Log lines of bugs. */
  bugs(): readonly string[] {
    const all = [...this.#output, ...this.#running.map((running) => running?.output() ?? '')].join('\n').split('\n');
    return all.filter((line) => line.includes('met a bug') || line.includes('could not be read or built'));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(async (running) => running?.end('SIGTERM')));
  }

  /** For a run that has failed. */
  killAll(): void {
    for (const running of this.#running) running?.process.kill('SIGKILL');
  }

  async #replace(index: number): Promise<void> {
    const name = `g${this.#started++}`;
    const file = join(this.#place.folder, `${name}.yaml`);
    const config = {
      listen: '127.0.0.1:0',
      ops: '127.0.0.1:0',
      languages: LANGUAGES,
      store: this.#place.url,
      store_options: { command_timeout_ms: STORE_MS },
      engine: { urls: [this.#engine.urlOf(name)], timeout_ms: ENGINE_MS },
      plans: { test: PLAN },
      documents: { secret: 'a secret of the tests that is long enough' },
      // Clients are not in a hurry, and a busy machine is not what is judged.
      limits: { shed_loop_delay_ms: 0 },
    };
    // JSON is valid YAML.
    await writeFile(file, JSON.stringify(config));
    const running = await startGatewayProcess({ args: ['serve', '--config', file] });
    this.#running[index] = running;
    this.#gateways[index] = { name, port: running.port, isKilled: false };
  }
}
