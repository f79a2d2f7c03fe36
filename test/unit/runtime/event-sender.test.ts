// The event sender: its exact schedule, one process at a time, a limit of concurrent deliveries, and no repeated delivery while the store takes no writes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventRules } from '../../../src/domain/event-rules.ts';
import type { OutboxEvent } from '../../../src/ports/outbox.ts';
import type { Store } from '../../../src/ports/store.ts';
import { EventSender, RETRY_AFTER_MS, SENDS_MAX } from '../../../src/runtime/event-sender.ts';
import type { SendFailure } from '../../../src/runtime/event-sender.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA, newId } from '../../../src/testing/store/team-under-test.ts';
import { SILENT } from '../../support/silent-log.ts';

const BROKEN: SendFailure = { failure: 'status', status: 500 };
const AWAY = { kind: 'unavailable', cause: 'full' } as const;

let folder: string;
let store: Store;
let clock: MovableClock;
let senders: EventSender[];
let lines: { message: string; fields: unknown }[];
/** When each event was sent. */
let sent: Map<string, number[]>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-sender-'));
  clock = new MovableClock();
  const options = { path: join(folder, 'lingate.db'), log: SILENT, clock, durability: 'normal' } as const;
  store = await openSqliteStore({ ...options, commandTimeoutMs: 10_000, events: eventRules([], []) });
  senders = [];
  lines = [];
  sent = new Map();
});

afterEach(async () => {
  for (const one of senders) await one.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Creates teams, each of which causes an event. */
async function teams(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await store.teams.createTeam({ teamId: newId(), name: 'Team', plan: 'p', limits: GENEROUS_QUOTA, balanceMicro: 0 });
  }
}

type Send = (event: OutboxEvent, signal: AbortSignal) => Promise<SendFailure | undefined> | SendFailure | undefined;

/** A sender with the store's clock, which the test moves. */
function sender(send: Send): EventSender {
  const say = (message: string, fields?: unknown): void => void lines.push({ message, fields });
  const made = new EventSender({
    outbox: store.outbox,
    teams: store.teams,
    now: () => clock.nowMs(),
    log: { info: say, warn: say, error: say },
    send: async (event, signal) => {
      sent.set(event.id, [...(sent.get(event.id) ?? []), clock.nowMs()]);
      return send(event, signal);
    },
  });
  senders.push(made);
  return made;
}

async function pass(ms: number, ...turning: readonly EventSender[]): Promise<void> {
  for (const end = clock.nowMs() + ms; clock.nowMs() < end; clock.step(1000)) {
    for (const one of turning) await one.turn();
  }
}

test('the pauses are as documented: 1 s, 5 s, 30 s, 2 min, 10 min, then hourly for three days', () => {
  expect(RETRY_AFTER_MS.slice(0, 6)).toEqual([1000, 5000, 30_000, 120_000, 600_000, 3_600_000]);
  const hourly = RETRY_AFTER_MS.slice(5);
  expect(hourly).toEqual(hourly.map(() => 3_600_000));
  expect(hourly.length * 3_600_000).toBe(3 * 86_400_000);
});

test('a receiver that is down for an hour gets every event by that schedule, once', async () => {
  const startMs = clock.nowMs();
  const away = sender(() => (clock.nowMs() - startMs < 3_600_000 ? BROKEN : undefined));
  await teams(20);
  await pass(4_400_000, away);
  const times = [0, 1, 6, 36, 156, 756, 4356].map((seconds) => startMs + seconds * 1000);
  // With eight at a time the rest of twenty start in the same tick, when the first have ended.
  expect([...sent.values()]).toEqual(Array.from({ length: 20 }, () => times));
  expect(away.counts).toEqual({ pending: 0, delivered: 20, failed: 120, dropped: 0 });
  expect(lines.map(({ message }) => message)).toEqual([
    'the receiver does not accept events: they are sent again',
    'the receiver takes events again',
  ]);
});

test('after three days an event is dropped, with a line that names it', async () => {
  const failing = sender(() => BROKEN);
  await teams(1);
  for (const pauseMs of [0, ...RETRY_AFTER_MS]) {
    clock.step(pauseMs);
    // The lease has expired meanwhile, and is taken again.
    await failing.turn();
  }
  const [id, times] = [...sent][0]!;
  expect(times).toHaveLength(1 + RETRY_AFTER_MS.length);
  await failing.turn();
  expect(failing.counts).toEqual({ pending: 0, delivered: 0, failed: times.length, dropped: 1 });
  expect(lines.at(-1)).toEqual({
    message: 'an event was dropped: its receiver has not taken it for three days',
    fields: { event_id: id, event: 'team_created', team: id.split('-')[0], ...BROKEN },
  });
});

test('of two processes one sends; the other starts when the lease of the first has expired or was returned', async () => {
  const [first, second] = [sender(() => undefined), sender(() => undefined)];
  await teams(3);
  await pass(3000, first, second);
  expect([first.counts.delivered, second.counts.delivered]).toEqual([3, 0]);
  await teams(2);
  // The first does nothing any more.
  await pass(25_000, second);
  expect(second.counts.delivered).toBe(0);
  await pass(15_000, second);
  expect(second.counts.delivered).toBe(2);
  await second.close();
  await teams(1);
  await pass(6000, first);
  expect(first.counts.delivered).toBe(4);
});

test('no delivery starts shortly before the lease ends, so that all have ended before another process may send', async () => {
  const one = sender(() => undefined);
  await one.turn();
  await teams(1);
  // Taken for 30 s, and the store no longer answers renewals.
  Object.assign(store.outbox, { lease: async () => AWAY });
  clock.step(20_000);
  await one.turn();
  expect(sent.size).toBe(0);
});

test('there are never more than eight deliveries at once, and a long list does not wait for the next round', async () => {
  let [now, most] = [0, 0];
  const busy = sender(async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return undefined;
  });
  await teams(300);
  await busy.turn();
  await expect.poll(() => busy.counts.delivered).toBe(300);
  expect(most).toBe(SENDS_MAX);
  expect([...sent.values()].filter((times) => times.length > 1)).toEqual([]);
});

test('while the store takes no writes nothing is sent again, and no more than what was in flight', async () => {
  const { outbox } = store;
  let full = true;
  const writes = { remove: outbox.remove.bind(outbox), postpone: outbox.postpone.bind(outbox) };
  Object.assign(outbox, {
    remove: async (event: never) => (full ? AWAY : writes.remove(event)),
    postpone: async (event: never, ms: number) => (full ? AWAY : writes.postpone(event, ms)),
  });
  let taken = 0;
  const one = sender(() => (full && ++taken % 2 === 0 ? BROKEN : undefined));
  await teams(200);
  await pass(15_000, one);
  expect(sent.size).toBeLessThanOrEqual(SENDS_MAX);
  expect([...sent.values()].filter((times) => times.length > 1)).toEqual([]);
  full = false;
  await pass(10_000, one);
  expect(one.counts.delivered).toBe(200);
});
