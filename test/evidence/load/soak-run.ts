// A soak: all kinds of requests for a while, with measurements between rounds of everything that must not grow.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'node:http';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { newKey } from '../../support/door/terms.ts';
import { act } from '../../support/door/contracts.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { closedLoop, times } from '../faults/pace.ts';
import { INSPECTABLE, inspect } from './inspected.ts';
import type { Inspector } from './inspected.ts';
import { startLoadedGateway } from './loaded-gateway.ts';
import type { LoadedGateway } from './loaded-gateway.ts';

export interface Look {
  /** Since the first measurement. */
  readonly requests: number;
  readonly atMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  readonly timers: number;
  /** Of Redis; 0 with the other store. */
  readonly keys: number;
}

interface SoakOptions {
  readonly store: 'sqlite' | 'redis';
  /** Rounds before the first measurement: caches fill, code is compiled. */
  readonly warmUpRounds: number;
  readonly roundRequests: number;
  /** Called before each round. */
  readonly goesOn: (looks: readonly Look[]) => boolean;
}

const PARALLEL = 24;
/** The kind of a request, by its number. The rest are translations. */
const KINDS = ['failing', 'invalid', 'unknown_key', 'not_found', 'languages', 'usage', 'leaves', 'glossary'] as const;
type Kind = (typeof KINDS)[number] | 'translation';
const KINDS_EVERY = 16;
const FAILING_MARK = 'no usable answer';
const QUIET_MS_MAX = 10_000;
/** After this long the connections to the engine are closed. */
const IDLE_MS = 4_500;

/** Measures after each round, the first time after the warm-up. */
export async function soak({ store, warmUpRounds, roundRequests, goesOn }: SoakOptions): Promise<Look[]> {
  const site = await startLoadedGateway({ store, nodeOptions: INSPECTABLE });
  site.engine.always((asked: ScriptedRequest, response) =>
    act(asked.body.includes(FAILING_MARK) ? 'not_json' : 'ok', asked, response, response.socket!),
  );
  const inspector = await inspect(site.process);
  try {
    const traffic = await Traffic.on(site);
    for (let round = 0; round < warmUpRounds; round++) await traffic.round(roundRequests);
    const looks = [await look(site, inspector, 0)];
    for (let requests = 0; goesOn(looks);) {
      requests += roundRequests;
      await traffic.round(roundRequests);
      looks.push(await look(site, inspector, requests));
    }
    return looks;
  } finally {
    inspector.close();
    await site.stop();
  }
}

class Traffic {
  readonly #site: LoadedGateway;
  readonly #teams: readonly TestTeam[];
  readonly #unknown = Array.from({ length: 50 }, () => newKey('test', randomBytes));
  #sent = 0;

  static async on(site: LoadedGateway): Promise<Traffic> {
    return new Traffic(site, await Promise.all(Array.from({ length: 10 }, () => site.team())));
  }

  private constructor(site: LoadedGateway, teams: readonly TestTeam[]) {
    this.#site = site;
    this.#teams = teams;
  }

  async round(count: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });
    await closedLoop(times(count), PARALLEL, () => this.#one(agent, this.#sent++));
    agent.destroy();
    // The scripted engine keeps its requests.
    (this.#site.engine.requests as ScriptedRequest[]).length = 0;
  }

  async #one(agent: Agent, index: number): Promise<void> {
    const kind: Kind = KINDS[index % KINDS_EVERY] ?? 'translation';
    const { key } = this.#teams[index % this.#teams.length]!;
    const text = `${kind === 'failing' ? FAILING_MARK : 'text'} ${index} ${'x'.repeat(index % 500)}`;
    const translation = JSON.stringify({ text: [text], target_lang: 'DE' });
    if (kind === 'leaves') return this.#leave(key, translation);
    const unknown = this.#unknown[index % this.#unknown.length]!;
    const all: Readonly<Record<typeof kind, readonly [route: string, key: string, body?: string]>> = {
      translation: ['POST /v1/translate', key, translation],
      failing: ['POST /v1/translate', key, translation],
      invalid: ['POST /v1/translate', key, '{"text":[""],"target_lang":"DE"}'],
      unknown_key: ['POST /v1/translate', unknown, translation],
      not_found: [`GET /v1/nothing/${index}`, key],
      languages: ['GET /v1/languages?type=target', key],
      usage: ['GET /v1/usage', key],
      glossary: ['GET /v1/glossaries', key],
    };
    const [route, as, body] = all[kind];
    const [method = '', path = ''] = route.split(' ');
    return this.#ask(agent, method, path, as, body);
  }

  #ask(agent: Agent, method: string, path: string, key: string, body = ''): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const asked = request({ agent, host: '127.0.0.1', port: this.#site.port, method, path, headers }, (response) => {
        response.resume().once('close', resolve);
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  #leave(key: string, body: string): Promise<void> {
    const socket = connect({ port: this.#site.port, host: '127.0.0.1' });
    const head = `POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
    return new Promise((resolve) => {
      socket.on('error', () => undefined);
      socket.once('close', () => resolve());
      socket.once('connect', () => socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, () => socket.resetAndDestroy()));
    });
  }
}

async function look(site: LoadedGateway, inspector: Inspector, requests: number): Promise<Look> {
  await quiet(site);
  const inside = await inspector.look();
  const [residentBytes, descriptors, keys] = await Promise.all([site.residentBytes(), site.descriptors(), redisKeys(site)]);
  return { requests, atMs: performance.now(), ...inside, residentBytes, descriptors, keys };
}

/** Nothing is in flight, and idle connections are gone. */
async function quiet(site: LoadedGateway): Promise<void> {
  const endMs = performance.now() + QUIET_MS_MAX;
  while ((await site.metric('lingate_requests_in_flight')) > 0 || (await site.metric('lingate_open_settlements')) > 0) {
    if (performance.now() > endMs) throw new Error('the gateway does not come to rest');
    await delay(20);
  }
  await delay(IDLE_MS);
}

async function redisKeys({ redis }: LoadedGateway): Promise<number> {
  if (redis === undefined) return 0;
  const client = new Redis(redis.port, '127.0.0.1', { protocol: 2 });
  try {
    return await client.dbsize();
  } finally {
    client.disconnect();
  }
}

/** What a measurement grows by the other, as the slope of the best-fitting line. */
export function heapPerRequest(looks: readonly Look[]): number {
  return slope(looks.map(({ requests, heapBytes }) => [requests, heapBytes]));
}

export function heapPerMinute(looks: readonly Look[]): number {
  return slope(looks.map(({ atMs, heapBytes }) => [atMs / 60_000, heapBytes]));
}

function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
