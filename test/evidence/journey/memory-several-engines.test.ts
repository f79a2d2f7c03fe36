// The memory with several engines: whose translations a request gets while the first engine is down, and when it is back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { answered } from '../../../src/index.ts';
import { limitsOf } from '../../support/door/terms.ts';
import type { ScriptedEngine, ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { V1 } from '../../support/fronts.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';

let place: StorePlace;
let gateway: TestGateway;
let small: ScriptedEngine;
let largePort: number;
/** Every open engine. */
const open: ScriptedEngine[] = [];

beforeAll(async () => {
  place = await storePlace('sqlite');
  small = await startEngine('small');
  largePort = await freePort();
  gateway = await startGateway({
    store: place.url,
    engineUrls: [],
    config: {
      plugins: [{ module: 'lingate/plugins/memory', options: { charge: 'none' } }],
      plans: { both: QUOTA_PLAN, alone: QUOTA_PLAN },
      engines: { large: { urls: [`http://127.0.0.1:${largePort}`], timeout_ms: 20_000 }, small: { urls: [small.url], timeout_ms: 20_000 } },
      routing: [{ plans: ['alone'], engines: ['large'] }, { engines: ['large', 'small'] }],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(open.map((engine) => engine.close()));
  await place.remove();
});

/** Every translation names its engine. */
async function startEngine(name: string, port?: number): Promise<ScriptedEngine> {
  const right = ({ body }: ScriptedRequest): string => {
    const { text } = JSON.parse(body) as { text: string[] };
    return JSON.stringify({ translations: text.map((one) => ({ text: `${name} ${one}` })) });
  };
  const engine = await startScriptedEngine({ right, ...(port === undefined ? {} : { port }) });
  open.push(engine);
  return engine;
}

async function putOn(team: TestTeam, plan: string): Promise<void> {
  answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(QUOTA_PLAN) } }));
}

async function ask({ key }: TestTeam, ...text: readonly string[]): Promise<readonly string[] | number> {
  const { status, body } = await request({ port: gateway.port, ...V1.translation(key, text) });
  return status === 200 ? V1.texts(body) : status;
}

const sentToSmall = (): readonly string[] => small.requests.flatMap(({ body }) => (JSON.parse(body) as { text: string[] }).text);

test('while the first engine is down the next one’s translations are remembered, only for plans that may use it, and only that long', async () => {
  const team = await gateway.team();
  await putOn(team, 'both');
  const up = await startEngine('large', largePort);
  expect(await ask(team, 'known')).toEqual(['large known']);
  await up.close();
  expect(await ask(team, 'new')).toEqual(['small new']);
  // Its trial comes a second later, and fails.
  for (let i = 0; i < 5; i++) expect(await ask(team, 'new', 'known')).toEqual(['small new', 'large known']);
  expect(sentToSmall().length).toBeLessThan(6);
  await putOn(team, 'alone');
  expect([await ask(team, 'new'), await ask(team, 'known')]).toEqual([503, ['large known']]);
  await putOn(team, 'both');
  await startEngine('large', largePort);
  await expect.poll(() => ask(team, 'new'), { interval: 200 }).toEqual(['large new']);
  expect(await ask(team, 'new')).toEqual(['large new']);
});
