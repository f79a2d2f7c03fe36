// Events from operations to a receiver, the manual's example: sent by a gateway of one process or several, and caused by commands.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS_SECRET, startManualReceiver } from '../../support/event-receiver.ts';
import type { ManualReceiver } from '../../support/event-receiver.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { openSite, opsPage, translate } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

let site: Site;
let receiver: ManualReceiver;
let gateway: GatewayProcess | undefined;

beforeAll(async () => {
  receiver = await startManualReceiver();
});
afterAll(() => receiver.end());

beforeEach(async () => {
  site = await openSite();
});

afterEach(async () => {
  await gateway?.end('SIGTERM');
  gateway = undefined;
  await site.close();
});

const PLAN = { ...QUOTA_PLAN, requests_per_second: 100, max_glossaries: 1, characters: 100 };

const configure = (): Promise<void> =>
  site.configure({
    engine: { urls: [site.engine.url] },
    plans: { small: PLAN },
    events: { url: receiver.url, secret: EVENTS_SECRET, thresholds: [50, 100] },
  });

async function command<T>(...args: readonly string[]): Promise<T> {
  const where = ['--config', `${site.folder}/lingate.yaml`, '--store', site.storeUrl];
  const { status, stdout, stderr } = await inProcess([...args, '--json', ...where]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

const makeTeam = async (): Promise<string> =>
  (await command<{ team_id: string }>('team', 'create', '--name', 'Reader', '--plan', 'small')).team_id;

interface Reported {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const reported = (subject: string): Reported[] =>
  receiver
    .lines()
    .map((line) => /^(\S+) (\S+) (\{.*\})$/.exec(line)!)
    .map(([, type, of, data]) => ({ type: type!, subject: of!, data: JSON.parse(data!) as Reported['data'] }))
    .filter((event) => event.subject === subject);

describe('what a team is told of', () => {
  test('a team that is refused is told of once, and the refusals are counted', async () => {
    await configure();
    const teamId = await makeTeam();
    const { key } = await command<{ key: string }>('key', 'create', '--team', teamId, '--mode', 'live');
    gateway = await site.serve();
    for (let i = 0; i < 10; i++) expect((await translate(gateway.port, key)).status).toBe(200);
    // Until the last is settled its characters are reserved: they refuse others, but the event counts what is charged.
    const charged = async (): Promise<unknown> => (await command<{ character_count: unknown }>('usage', teamId)).character_count;
    await expect.poll(charged).toBe(100);
    expect(reported(teamId).map(({ type }) => type)).not.toContain('lingate.limit.reached');
    for (let i = 0; i < 7; i++) expect((await translate(gateway.port, key)).status).toBe(402);
    const refusals = async (): Promise<unknown> => (await command<{ refusals: unknown }>('team', 'show', teamId)).refusals;
    await expect.poll(refusals).toEqual({ rate_limited: 0, quota_exceeded: 7, credit_exhausted: 0 });
    const reached = (): Reported['data'][] =>
      reported(teamId).flatMap(({ type, data }) => (type === 'lingate.limit.reached' ? [data] : []));
    await expect.poll(reached).toHaveLength(1);
    expect(reached()[0]).toMatchObject({ code: 'quota_exceeded', required_characters: 10, team_id: teamId, character_count: 100 });
    // What it ends with is reported too.
    for (let i = 0; i < 3; i++) expect((await translate(gateway.port, key)).status).toBe(402);
    await gateway.end('SIGTERM');
    gateway = undefined;
    expect(await refusals()).toEqual({ rate_limited: 0, quota_exceeded: 10, credit_exhausted: 0 });
    expect(reached()).toHaveLength(1);
  });

  test('the manual’s receiver gets the team, its key, and the percentages that it reaches, each once', async () => {
    await configure();
    const teamId = await makeTeam();
    const words = ['key', 'create', '--team', teamId, '--mode', 'live', '--label', 'web'];
    const { key, key_id: keyId } = await command<{ key: string; key_id: string }>(...words);
    gateway = await site.serve('--workers', '2');
    for (let i = 0; i < 10; i++) expect((await translate(gateway.port, key)).status).toBe(200);
    await command('key', 'revoke', keyId);
    const types = ['key.created', 'key.revoked', 'quota.threshold', 'quota.threshold', 'team.created'];
    const seen = () => reported(teamId).map(({ type }) => type);
    await expect.poll(() => seen().toSorted()).toEqual(types.map((type) => `lingate.${type}`));
    const byType = (type: string): Reported['data'][] => reported(teamId).flatMap((event) => (event.type === type ? [event.data] : []));
    expect(byType('lingate.team.created')).toEqual([expect.objectContaining({ team_id: teamId, name: 'Reader', plan: 'small' })]);
    expect(byType('lingate.key.revoked')).toEqual([expect.objectContaining({ key_id: keyId, display: key.slice(0, 12), label: 'web' })]);
    const reached = byType('lingate.quota.threshold').toSorted((one, other) => Number(one['percent']) - Number(other['percent']));
    expect(reached).toMatchObject([
      { percent: 50, character_limit: 100 },
      { percent: 100, character_count: 100, character_limit: 100 },
    ]);
    // Counted when it is noticed, which may be some requests later.
    expect(reached[0]!['character_count']).toBeGreaterThanOrEqual(50);
    await expect
      .poll(() => opsPage(gateway!, '/metrics'))
      .toMatch(/^lingate_events_pending 0\n(?:.*\n)*lingate_events_delivered_total 5$/m);
    const metrics = await opsPage(gateway, '/metrics');
    expect(metrics).toMatch(/^lingate_events_failed_total 0$/m);
    expect(metrics).toMatch(/^lingate_events_dropped_total 0$/m);
  });
});

test('without events in the configuration nothing is stored', async () => {
  await site.configure({ engine: { urls: [site.engine.url] }, plans: { small: PLAN } });
  gateway = await site.serve();
  await makeTeam();
  expect(await site.store.outbox.pending()).toBe(0);
  expect(await opsPage(gateway, '/metrics')).not.toContain('lingate_events');
});

test('a command with another configuration stores events too, while a gateway sends from its store', async () => {
  await configure();
  gateway = await site.serve();
  // It updates its rules when it first reads the outbox.
  await expect.poll(async () => (await site.store.outbox.lease('another', 1)) === false).toBe(true);
  await site.configure({ engine: { urls: [site.engine.url] }, plans: { small: PLAN } });
  const teamId = await makeTeam();
  await expect.poll(() => reported(teamId).map(({ type }) => type)).toEqual(['lingate.team.created']);
});
