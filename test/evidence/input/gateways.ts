// Gateways for the input tests: both listeners with the same kind of engine, and a team whose plan refuses nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answered } from '../../../src/index.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine, ScriptedRequest } from '../../../src/testing/scripted-engine.ts';

export { LISTENERS };

const PLAN = {
  ...QUOTA_PLAN,
  requests_per_second: 100_000,
  max_characters_per_request: 100_000,
  characters: 1_000_000_000,
  max_glossaries: 10_000,
};

export interface InputGateway {
  readonly gateway: TestGateway;
  readonly engine: ScriptedEngine;
  /** With the team's key, unless the fields say otherwise. */
  ask(ask: Ask): Promise<HttpResponse>;
  /** The engine's requests for this answer. */
  engineSaw(response: HttpResponse): ScriptedRequest | undefined;
  /** Characters charged to the team so far, including pending settlements, which it waits for. */
  charged(): Promise<number>;
  stop(): Promise<void>;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** `more` are members of the configuration. */
export async function startInputGateway(
  listener: (typeof LISTENERS)[number],
  more: Readonly<Record<string, unknown>> = {},
): Promise<InputGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-input-'));
  const engine = await startScriptedEngine();
  const config = {
    // A busy machine must look neither like a failing engine nor like an overload.
    engine: { timeout_ms: 5000 },
    store_options: { command_timeout_ms: 5000 },
    limits: { shed_loop_delay_ms: 0 },
    ...more,
  };
  const gateway = await startGateway({ listener, store: `sqlite:${folder}/lingate.db`, engineUrls: [engine.url], config });
  const { key, teamId } = await gateway.team(PLAN);
  return {
    gateway,
    engine,
    ask: ({ method = 'POST', path = '/v1/translate', headers = {}, body }) =>
      request({
        port: gateway.port,
        method,
        path,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
      }),
    engineSaw: ({ headers }) => engine.requests.findLast((seen) => seen.headers['x-request-id'] === headers['x-request-id']),
    async charged() {
      const { teams } = gateway.store;
      // A settlement is sent together with the answer; the store has it a moment later.
      for (;;) {
        const standing = answered(await teams.standing(teamId));
        if (standing?.openReservations === 0) return standing.usedCharacters;
      }
    },
    async stop() {
      await gateway.stop();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs it for each, a few concurrently, and returns the results in order. */
export async function forEachOf<T, R>(items: readonly T[], atOnce: number, action: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await action(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
