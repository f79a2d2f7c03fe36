// Two gateways are killed while they refuse, or a replica takes their Redis's place: a refusal's event is stored once in a period, or once
// since credit was added, and never without a refusal.
import { afterEach, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { openWhole } from '../../support/door/stores.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import { EVENTS_SECRET } from '../../support/event-receiver.ts';
import { freePort } from '../../support/free-port.ts';
import { CREDIT_PLAN, makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { translate } from '../../support/site.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { startFleet } from './fleet.ts';
import { seeded } from './seeded.ts';

const KILLS = sized(2, 20, 200);
/** Of each team at each gateway, while one of the two is killed. */
const AT_ONCE = 4;
/** Until a sentinel has promoted the replica, on a busy machine. */
const BACK_MS_MAX = 30_000;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test.each(['sqlite', 'redis'] as const)('over %s', { timeout: RUN_MS_MAX }, async (kind) => {
  const random = seeded();
  const place = await storePlace(kind);
  closing.push(() => place.remove());
  const engine = await startScriptedEngine();
  closing.push(() => engine.close());
  // Nobody is there, so that the store keeps every event. SQLite keeps one of equal ids: a repetition shows with credit, whose ids count.
  const events = { url: `http://127.0.0.1:${await freePort()}/`, secret: EVENTS_SECRET };
  const fleet = await startFleet({ store: place.url, engineUrl: engine.url, size: 2, events });
  let stopped = false;
  closing.push(async () => (stopped ? undefined : fleet.stop()));
  const store = await openBeside(place.url);
  closing.push(() => store.close());

  const expected = new Map<string, number>();
  /** Each living gateway refuses, or does not, whatever was refused before. */
  const askAll = async (team: TestTeam, code: unknown): Promise<void> => {
    for (const { port } of fleet.living()) expect(await codeOf(port, team)).toBe(code);
  };
  for (let round = 0; round < KILLS; round++) {
    const [quota, credit, none] = [
      await makeTeam(store, { ...QUOTA_PLAN, characters: 5 }),
      await makeTeam(store, CREDIT_PLAN),
      await makeTeam(store),
    ];
    for (const [team, count] of [
      [quota, 1],
      [credit, 2],
      [none, 0],
    ] as const)
      expected.set(team.teamId, count);
    const killed = random.between(0, 1);
    const killAt = random.between(0, AT_ONCE * 4);
    let answers = 0;
    const killing: Promise<unknown>[] = [];
    const killIfDue = (): void => {
      if (answers >= killAt && killing.length === 0) killing.push(fleet.kill(killed));
    };
    const asked = fleet
      .living()
      .flatMap(({ port }) =>
        Array.from({ length: AT_ONCE }, () => [quota, credit, none].map((team) => codeOf(port, team).catch(() => undefined))).flat(),
      );
    for (const answer of asked)
      void answer.then(() => {
        answers++;
        killIfDue();
      });
    killIfDue();
    await Promise.all(asked);
    await Promise.all(killing);
    await fleet.replace(killed);
    await askAll(quota, 'quota_exceeded');
    await askAll(credit, 'credit_exhausted');
    // Less than a translation costs.
    expect(answered(await store.teams.updateTeam(credit.teamId, { addMicro: 1 }))).toMatchObject({ balanceMicro: 1 });
    // For a moment after a refusal for credit, a gateway does not look whether some was added.
    const reportedOfCredit = async (): Promise<unknown> => {
      await askAll(credit, 'credit_exhausted');
      return (await limitEvents(place.url, [credit.teamId])).get(credit.teamId);
    };
    await expect.poll(reportedOfCredit, { timeout: BACK_MS_MAX, interval: 200 }).toBe(2);
    await askAll(none, 200);
  }
  stopped = true;
  await fleet.stop();
  expect(await limitEvents(place.url, [...expected.keys()])).toEqual(expected);
});

async function codeOf(port: number, { key }: TestTeam): Promise<unknown> {
  const { status, body } = await translate(port, key);
  return status === 200 ? status : (JSON.parse(body) as { code: unknown }).code;
}

/** How many events of refusals are stored for each of the teams. */
async function limitEvents(url: string, teamIds: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map(teamIds.map((teamId) => [teamId, 0]));
  const reader = await openWhole(url, 'read');
  for (const [name, value] of await reader.shared.list('events')) {
    if (!value.includes('"kind":"limit_reached"')) continue;
    const [teamId = ''] = name.split(' ');
    counts.set(teamId, (counts.get(teamId) ?? 0) + 1);
  }
  await reader.close();
  return counts;
}
