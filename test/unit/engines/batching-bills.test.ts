// Batches in a whole gateway with two engines: callers of several teams whose second attempts go to different engines, a
// real store, and charges that are right to the character.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { countCharacters } from '../../../src/domain/characters.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { scriptedTranslation, slow, startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import type { Behaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';

const RUNS = 15;
/** One gateway serves all runs, so the limits must be high enough for all of them. */
const PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000 };

/** The engines of each plan, in order. */
const LISTS = { both: ['first', 'second'], one: ['first'], turned: ['second', 'first'] };

interface Asked {
  /** The index of the team that pays. */
  readonly team: number;
  readonly texts: readonly string[];
  readonly target: string;
  readonly leaves: boolean;
}

let folder: string;
let engine: ScriptedEngine;
let other: ScriptedEngine;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-batches-'));
  engine = await startScriptedEngine();
  other = await startScriptedEngine();
  const terms = { timeout_ms: 500, batch: { texts_max: 12, wait_ms: 2 } };
  const config = {
    plans: Object.fromEntries(Object.keys(LISTS).map((plan) => [plan, PLAN])),
    engines: { first: { urls: [engine.url], ...terms }, second: { urls: [other.url], ...terms } },
    routing: Object.entries(LISTS).map(([plan, engines]) => ({ plans: [plan], engines })),
  };
  gateway = await startGateway({ store: `sqlite:${folder}/lingate.db`, engineUrls: [], config });
});

afterAll(async () => {
  await gateway.stop();
  await engine.close();
  await other.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  engine.forget();
  other.forget();
});

/** Only callers of the third team may leave; the charges of the other two teams are known exactly. */
const asked: fc.Arbitrary<Asked> = fc
  .record({
    team: fc.nat({ max: 2 }),
    texts: fc.array(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
    target: fc.constantFrom('DE', 'DE', 'DE', 'FR'),
    leaves: fc.boolean(),
  })
  .map((each) => ({ ...each, leaves: each.leaves && each.team === 2 }));

const behaviours = fc.array(
  fc.constantFrom<Behaviour[]>('ok', 'ok', 'ok', slow(20), status(500), 'reset', 'one_too_few', 'one_too_many', 'not_json', 'hang'),
  { maxLength: 20 },
);

async function teamOf(plan: keyof typeof LISTS): Promise<TestTeam> {
  const team = await gateway.team(PLAN);
  answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(PLAN) } }));
  return team;
}

/** The status, and the translations of a 200; `undefined` for a caller that left. */
async function post(team: TestTeam, { texts, target, leaves }: Asked): Promise<{ status: number; body: unknown } | undefined> {
  const leaving = new AbortController();
  if (leaves) setTimeout(() => leaving.abort(), 10);
  try {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${team.key}` },
      body: JSON.stringify({ text: texts, target_lang: target }),
      signal: leaving.signal,
    });
    return { status: response.status, body: await response.json() };
  } catch (error) {
    if (leaving.signal.aborted) return undefined;
    throw error;
  }
}

async function billed({ key }: TestTeam): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { character_count: number }).character_count;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text();
  // The sum over all engines.
  return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (.+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
}

function characters(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countCharacters(text), 0);
}

function rightBody({ texts, target }: Asked): unknown {
  const translations = texts.map((text) => ({ detected_source_language: 'EN', text: scriptedTranslation(text, target) }));
  return { translations, billed_characters: characters(texts) };
}

test('for one call with texts of two teams each is charged for its own', async () => {
  const teams = [await teamOf('both'), await teamOf('one')] as const;
  const wanted = [
    { team: 0, texts: ['Good morning', 'Good night'], target: 'DE', leaves: false },
    { team: 1, texts: ['naïve 👍'], target: 'DE', leaves: false },
  ] as const;
  // However busy the machine is, at some point the two requests arrive together.
  let rounds = 0;
  do {
    rounds++;
    engine.forget();
    const answers = await Promise.all(wanted.map((each) => post(teams[each.team], each)));
    expect(answers).toEqual(wanted.map((each) => ({ status: 200, body: rightBody(each) })));
  } while (engine.requests.length > 1);
  await expect.poll(() => Promise.all(teams.map(billed))).toEqual([22 * rounds, 7 * rounds]);
});

test('random callers get their own answers or a 503, and each team is charged exactly for its 200s', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 8, maxLength: 30 }), behaviours, behaviours, async (requests, ofFirst, ofSecond) => {
      engine.forget();
      other.forget();
      engine.behave(...ofFirst);
      other.behave(...ofSecond);
      const teams = await Promise.all([teamOf('both'), teamOf('one'), teamOf('turned')]);
      const delivered = [0, 0, 0];
      let left = 0;
      await Promise.all(
        requests.map(async (each) => {
          const answer = await post(teams[each.team]!, each);
          // Only the gateway knows whether the answer had been written when the caller left.
          if (answer === undefined) left += characters(each.texts);
          else if (answer.status === 200) {
            expect(answer.body).toEqual(rightBody(each));
            delivered[each.team]! += characters(each.texts);
          } else expect(answer).toMatchObject({ status: 503, body: { code: 'engine_unavailable' } });
        }),
      );
      await expect.poll(() => metric('lingate_open_reservations')).toBe(0);
      const charged = await Promise.all(teams.map(billed));
      expect(charged.slice(0, 2)).toEqual(delivered.slice(0, 2));
      expect(charged[2]).toBeGreaterThanOrEqual(delivered[2]!);
      expect(charged[2]).toBeLessThanOrEqual(delivered[2]! + left);
    }),
    { numRuns: RUNS },
  );
  expect(await metric('lingate_engine_batches_total')).toBeGreaterThan(RUNS);
  expect(await metric('lingate_engine_batched_requests_total')).toBeGreaterThan(2 * RUNS);
});
