// For tests of the memory: a path to its Redis with a gate in it, requests, and what they cost.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { expect } from 'vitest';
import { answered } from '../../../src/index.ts';
import type { Store } from '../../../src/ports/store.ts';
import { V1 } from '../../support/fronts.ts';
import { CREDIT_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';

export const PATIENCE_MS = 60_000;
/** Enough for thousands of tries. */
export const CREDIT = 1_000_000;
/** One minor unit for each character. */
export const DEAR_PLAN = { ...CREDIT_PLAN, credit_minor_per_million: 1_000_000 };

/** A path to the shared Redis on which a test may act between a look-up and its answer. */
export interface MemoryGate {
  readonly url: string;
  /** Called at the next look-up, which waits for it. */
  onLookUp: (() => unknown) | undefined;
  close(): void;
}

export async function openMemoryGate(port: number): Promise<MemoryGate> {
  const server: Server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    let sending = Promise.resolve();
    client.on('data', (bytes) => {
      const before = bytes.includes('mget') ? gate.onLookUp : undefined;
      if (before !== undefined) gate.onLookUp = undefined;
      sending = sending.then(() => before?.()).then(() => void redis.write(bytes));
    });
    redis.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => undefined).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const gate: MemoryGate = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onLookUp: undefined,
    close: () => void server.close(),
  };
  return gate;
}

export async function ask(
  port: number,
  { key }: TestTeam,
  ...text: readonly string[]
): Promise<{ texts: readonly string[]; billed: number }> {
  const { status, body } = await request({ port, ...V1.translation(key, text) });
  expect([status, body]).toEqual([200, expect.any(String)]);
  return { texts: V1.texts(body), billed: (JSON.parse(body) as { billed_characters: number }).billed_characters };
}

export const translated = (text: string): string => `[DE] ${text}`;

/** What was charged once nothing is held any more, by count and by balance. */
export async function charged(store: Store, { teamId }: TestTeam): Promise<number | undefined> {
  const standing = answered(await store.teams.standing(teamId));
  if (standing?.openReservations !== 0) return undefined;
  expect(answered(await store.teams.findTeam(teamId))!.balanceMicro).toBe((CREDIT - standing.usedCharacters) * 1_000_000);
  return standing.usedCharacters;
}
