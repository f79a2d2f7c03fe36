// Row 1: several processes, failing engines and upstreams, callers who leave: charges equal what was delivered, to the character.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { downloadPiece, startUpstream } from '../../support/upstream.ts';
import type { TestUpstream } from '../../support/upstream.ts';
import { Callers, CHARACTERS_MIN } from './caller.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startDurableRedis } from './durable-redis.ts';
import type { DurableRedis } from './durable-redis.ts';
import { startMarkedEngine } from './marked-engine.ts';
import type { Mark, MarkedEngine } from './marked-engine.ts';
import { closedLoop, times } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import type { Seeded } from './seeded.ts';
import { closedCharacters, expectGuarantees, openWitness, untilQuiet, watchedTeam } from './witness.ts';
import type { Evidence, WatchedTeam } from './witness.ts';
import type { Forwarding } from './caller.ts';

/** Less than any text has. */
const FORWARD_CHARACTERS = CHARACTERS_MIN - 17;
/** The entry in a configuration, without its target. */
const FORWARD = {
  path: '/v1/documents/*',
  methods: ['POST'],
  charge_characters: FORWARD_CHARACTERS,
  timeout_ms: 500,
  statuses: { '422': 'validation_error' },
};

/** Beyond what an upstream that dies sends. */
const BYTES_MAX = 200_000;
const DYING_BYTES = 4000;

/** The next document: every kind of answer in turn, cut at a random byte. */
function documentsOf(random: Seeded): () => Forwarding {
  const bytes = () => random.between(1, BYTES_MAX);
  const dying = () => random.between(0, DYING_BYTES - 1);
  const kinds: readonly (() => readonly [words: string, bytes: number])[] = [
    () => answering('bytes', bytes()),
    () => [`dies/${dying()}`, DYING_BYTES],
    () => answering('chunked', bytes()),
    () => [`status/${random.oneOf([422, 500])}`, 0],
    () => answering('bytes', bytes()),
    () => [`dies-chunked/${dying()}`, DYING_BYTES],
    () => ['empty/0', 0],
    () => [random.oneOf(['silent/0', `stalls/${dying()}`]), DYING_BYTES],
    () => answering('chunked', bytes()),
    () => ['status/422', 0],
  ];
  let turn = 0;
  return () => {
    const [words, length] = kinds[turn++ % kinds.length]!();
    const document = 'd'.repeat(random.between(1, 3000));
    return { path: `/v1/documents/${words}`, characters: FORWARD_CHARACTERS, document, whole: downloadPiece(0, length) };
  };
}

function answering(verb: string, bytes: number): readonly [words: string, bytes: number] {
  return [`${verb}/${bytes}`, bytes];
}

const PROCESSES = sized(2, 4);
const PARALLEL = 32;
const LEASE_MS = 60_000;
/** A machine that stands still for a moment is no fault of store or engine. */
const PATIENT = { storeMs: 10_000, engineMs: 20_000, leaseSeconds: LEASE_MS / 1000 };
const UNUSABLE: readonly Mark[] = ['not_json', 'reset', 'close', 'truncate', 'one_too_few', 'empty', 'redirect'];

describe.each(['redis', 'sqlite'] as const)(`${PROCESSES} processes on %s`, (kind) => {
  let folder: string;
  let redis: DurableRedis | undefined;
  let url: string;
  let engine: MarkedEngine;
  let upstream: TestUpstream;
  let store: Store;
  let fleet: Fleet;
  const callers = new Callers();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-accounting-'));
    redis = kind === 'redis' ? await startDurableRedis() : undefined;
    url = redis?.url ?? `sqlite:${folder}/lingate.db`;
    engine = await startMarkedEngine();
    upstream = await startUpstream();
    store = await openWitness(url);
    const forward = [{ ...FORWARD, target: upstream.url }];
    // With one store engine calls are shared, with the other they are not.
    const shared = kind === 'redis' ? { batch: { texts_max: 8, characters_max: 2000, wait_ms: 5 } } : {};
    fleet = await startFleet({ store: url, engineUrl: engine.url, size: PROCESSES, forward, ...PATIENT, ...shared });
  });

  afterAll(async () => {
    callers.close();
    await store.close();
    await engine.close();
    await upstream.close();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('charge exactly what they deliver, with failing engines and upstreams and callers who leave', { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const count = kind === 'redis' ? sized(600, 30_000, 300_000) : sized(300, 6000, 60_000);
    const teams = await teamsOf(store, sized(10, 20), count);
    const lengths = new Map(teams.map((team) => [team, CHARACTERS_MIN]));
    const nextDocument = documentsOf(random);
    await closedLoop(times(count), PARALLEL, async () => {
      const team = random.oneOf(teams);
      const leaves = random.chance(0.1) ? { leavesAfterMs: random.between(1, 30) } : {};
      if (random.chance(0.2)) {
        await callers.forward(random.oneOf(fleet.living()), team, { ...nextDocument(), ...leaves });
        return;
      }
      const characters = lengths.get(team)!;
      lengths.set(team, characters + 1);
      await callers.translate(random.oneOf(fleet.living()), team, { characters, marks: marksOf(random), ...leaves });
    });
    await untilQuiet(store, teams, LEASE_MS);
    const logged = await fleet.stop();
    const evidence: Evidence = { store, teams, seen: callers.seen, logged };
    const figures = await expectGuarantees(evidence);
    // The run exercised what it is about. A machine that keeps SQLite's writers waiting adds refusals, which cost nothing either.
    const codes = new Set(callers.seen.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind)));
    codes.delete('service_unavailable');
    expect([...codes].toSorted()).toEqual([
      'credit_exhausted',
      'engine_unavailable',
      'ok',
      'quota_exceeded',
      'unknown',
      'validation_error',
    ]);
    const forwarded = callers.seen.filter(({ characters }) => characters === FORWARD_CHARACTERS);
    expect(new Set(forwarded.map(({ result }) => result.kind))).toEqual(new Set(['ok', 'fail', 'unknown']));
    const difference = figures.chargedCharacters - figures.unreadCharacters - figures.okCharacters;
    expect(difference).toBe(0);
    // The basis of invoices.
    expect(await closedCharacters(store, teams)).toBe(figures.chargedCharacters);
    report({
      row: 1,
      figure: `accounting equality, ${PROCESSES} processes on ${kind}`,
      measured: `difference ${difference} of ${figures.okCharacters} characters; ${count} requests, ${forwarded.length} of them forwarded (${figures.ok} ok, ${figures.failed} failed, ${figures.unknown} left, of these ${figures.unreadCharacters} characters handed over in full before); every guarantee holds`,
      counts: { requestsChecked: callers.seen.length, faults: figures.failed + figures.unknown },
    });
  });
});

/** Most have more than they can use; some run out of quota or credit on the way. */
function teamsOf(store: Store, size: number, requests: number): Promise<WatchedTeam[]> {
  const share = (requests / size) * (CHARACTERS_MIN + requests / size / 2);
  const scarce = { ...QUOTA_PLAN, max_characters_per_request: 100_000, characters: Math.floor(share / 3) };
  const ample = { ...scarce, characters: 100_000_000 };
  const credit = { ...CREDIT_PLAN, max_characters_per_request: 100_000 };
  const poorMinor = Math.max(1, Math.floor((share * credit.credit_minor_per_million) / 3_000_000));
  return Promise.all(
    Array.from({ length: size }, (_, index) => {
      if (index % 5 === 0) return watchedTeam(store, scarce);
      if (index % 5 === 1) return watchedTeam(store, credit, poorMinor);
      return index % 5 === 2 ? watchedTeam(store, credit, 1_000_000) : watchedTeam(store, ample);
    }),
  );
}

/** A quarter fails twice, some only at the first attempt, the rest takes its time. */
function marksOf(random: Seeded): [Mark, Mark] {
  const slow = random.between(0, 20);
  if (random.chance(0.25)) return [random.oneOf(UNUSABLE), random.oneOf(UNUSABLE)];
  return random.chance(0.1) ? [random.oneOf(UNUSABLE), slow] : [slow, slow];
}
