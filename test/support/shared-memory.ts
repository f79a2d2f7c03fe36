// A Redis that gateways share as the memory of translations: what it has of which team, and the gateways' own figures beside it.
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { V1 } from './fronts.ts';
import type { TestGateway, TestTeam } from './gateway.ts';
import { request } from './raw-http.ts';
import { startRedis } from './redis.ts';
import { everything } from './store-search.ts';

/** Gateways learn of deletions every five seconds; a busy machine needs longer. */
export const LEARNT_MS = 30_000;

interface SharedMemory {
  /** The plugin's entry of a configuration. */
  readonly plugin: { readonly module: string; readonly options: { readonly store: string; readonly look_up_ms: number } };
  /** Ids of the teams that have entries, each once. */
  teams(): Promise<readonly string[]>;
  /** Names and values of all entries. */
  content(): Promise<string>;
  stop(): Promise<void>;
}

export async function startSharedMemory(): Promise<SharedMemory> {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  return {
    // An answer that is overdue would be a miss, and nothing would be written for a second.
    plugin: { module: 'lingate/plugins/memory', options: { store: redis.url, look_up_ms: 10_000 } },
    teams: async () => [...new Set((await client.keys('lingate:memory:*')).map((name) => name.split(':')[2]!))].toSorted(),
    content: async () => (await everything(redis.url)).map(({ text }) => text).join('\n'),
    async stop() {
      client.disconnect();
      await redis.stop();
    },
  };
}

/** The translations of a successful request. */
export async function translated({ port }: TestGateway, { key }: TestTeam, ...text: readonly string[]): Promise<readonly string[]> {
  const { status, body } = await request({ port, ...V1.translation(key, text) });
  if (status !== 200) throw new Error(`status ${status}: ${body}`);
  return V1.texts(body);
}

/** Gateways connect with their first request, which does not wait for it: translates new texts until one is shared. */
export async function connected(memory: SharedMemory, gateway: TestGateway, team: TestTeam): Promise<void> {
  let tries = 0;
  const shared = async (): Promise<boolean> => {
    await translated(gateway, team, `connects ${gateway.port} ${tries}`);
    return (await memory.content()).includes(`connects ${gateway.port} ${tries++}`);
  };
  await expect.poll(shared, { timeout: LEARNT_MS }).toBe(true);
}

/** A figure of the memory in `/metrics`, by the rest of its name and its labels. */
async function figure({ opsPort }: TestGateway, name: string): Promise<number> {
  const { body } = await request({ port: opsPort, path: '/metrics', headers: { host: '127.0.0.1' } });
  return Number(
    body
      .split('\n')
      .find((line) => line.startsWith(`lingate_memory_${name} `))
      ?.split(' ')[1],
  );
}

/** What the process itself remembers. */
export async function ownFigures(gateway: TestGateway): Promise<{ readonly entries: number; readonly bytes: number }> {
  return { entries: await figure(gateway, 'entries'), bytes: await figure(gateway, 'bytes') };
}
