// Gateways in their own processes that share one store: started, killed, frozen and replaced one by one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import type { Crash } from '../../support/auditor/witnessed.ts';
import type { Target } from './caller.ts';

interface FleetOptions {
  readonly store: string;
  readonly engineUrl: string;
  readonly size: number;
  /** The engine's time for an attempt; generous, so that busy cores do not look like a failing engine. */
  readonly engineMs?: number;
  /** How long a reservation is held: at least two attempts and a second. */
  readonly leaseSeconds?: number;
  /** Entries of `forward` in the configuration. */
  readonly forward?: readonly object[];
  /** Which requests may share an engine call, as `engine.batch`. */
  readonly batch?: object;
  /** The store's time; generous for the same reason. */
  readonly storeMs?: number;
  /** Where events are sent, as `events`; by default nowhere, and none are stored. */
  readonly events?: object;
}

/** A line of an access log; without a status the caller had left. */
export interface LoggedRequest {
  readonly request_id: string;
  readonly status?: number;
  readonly code: string;
  readonly team_id: string;
  readonly key_id: string;
  /** Those that were charged. */
  readonly characters: number;
}

export interface Fleet {
  /** Those that are running now. */
  living(): readonly Target[];
  /** Kills one as a crash would. */
  kill(index: number): Promise<Omit<Crash, 'underWayMs'>>;
  /** Starts another in its place. */
  replace(index: number): Promise<void>;
  signal(index: number, signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Stops all of them cleanly; resolves with their access logs. */
  stop(): Promise<readonly LoggedRequest[]>;
  /** Log lines with these words, of all gateways so far. */
  logged(words: string): readonly string[];
}

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-fleet-'));
  const file = join(folder, 'lingate.yaml');
  const { store, engineUrl, size, engineMs = 5000, leaseSeconds = 60, storeMs = 5000, forward = [], batch, events } = options;
  const config = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    languages: LANGUAGES,
    store,
    store_options: { command_timeout_ms: storeMs },
    engine: { urls: [engineUrl], timeout_ms: engineMs, ...(batch === undefined ? {} : { batch }) },
    forward,
    limits: { reservation_seconds: leaseSeconds },
    ...(events === undefined ? {} : { events }),
  };
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(config));
  const started = new ProcessFleet(folder, file);
  await Promise.all(Array.from({ length: size }, (_, index) => started.replace(index)));
  return started;
}

class ProcessFleet implements Fleet {
  readonly #folder: string;
  readonly #file: string;
  readonly #gateways: GatewayProcess[] = [];
  /** All that were ever started, in any order. */
  readonly #started: GatewayProcess[] = [];
  /** Nothing is left running when a test ends without `stop`. */
  readonly #killAll = (): void => {
    for (const gateway of this.#started) gateway.process.kill('SIGKILL');
  };
  readonly #targets: (Target | undefined)[] = [];

  constructor(folder: string, file: string) {
    this.#folder = folder;
    this.#file = file;
    process.once('exit', this.#killAll);
  }

  living(): readonly Target[] {
    return this.#targets.filter((target) => target !== undefined);
  }

  async replace(index: number): Promise<void> {
    const gateway = await startGatewayProcess({ args: ['serve', '--config', this.#file] });
    const via = `gateway ${index}.${this.#started.length}`;
    this.#started.push(gateway);
    this.#gateways[index] = gateway;
    this.#targets[index] = { via, port: gateway.port };
  }

  async kill(index: number): Promise<Omit<Crash, 'underWayMs'>> {
    const { via } = this.#targets[index]!;
    this.#targets[index] = undefined;
    const ended = this.#gateways[index]!.end('SIGKILL');
    const atMs = Date.now();
    await ended;
    return { via, atMs };
  }

  signal(index: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#gateways[index]!.process.kill(signal);
  }

  async stop(): Promise<readonly LoggedRequest[]> {
    const endings = await Promise.all(this.#gateways.map((gateway) => gateway.end('SIGTERM')));
    process.off('exit', this.#killAll);
    await rm(this.#folder, { recursive: true, force: true });
    if (endings.some((ending) => ending !== 0))
      throw new Error(`gateways ended with ${endings.join(', ')}: ${this.logged('').slice(-20).join('\n')}`);
    return this.logged('"msg":"request"').map((line) => JSON.parse(line) as LoggedRequest);
  }

  logged(words: string): readonly string[] {
    return this.#started.flatMap((gateway) => gateway.output().split('\n')).filter((line) => line.includes(words));
  }
}
