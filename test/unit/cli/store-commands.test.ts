// Every command that works on a store, on both stores: its output and its effects.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ulidSource } from '../../../src/domain/ulid.ts';
import { NO_REFUSALS } from '../../../src/domain/usage-days.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';
import { inProcess, lingate, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Ended, Folder } from '../../support/lingate-command.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { openBeside } from '../../support/store-place.ts';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const newId = ulidSource(Date.now);

type Report = Record<string, unknown> & { readonly team_id: string };
type KeyReport = Record<string, unknown> & { readonly key_id: string; readonly key: string; readonly display: string };

const planFile = (tiny: string): string => `plans:
  free: { billing: quota, requests_per_second: 5, max_characters_per_request: 10000, max_glossaries: 1, characters: 1000,
    overage_cap_minor: 500, overage_minor_per_million: 1000000, currency: EUR }
  tiny: { billing: quota, requests_per_second: ${tiny}, max_characters_per_request: 10, max_glossaries: 0, characters: 10, period: P7D, currency: CHF }
  prepaid: { billing: credit, requests_per_second: 50, max_characters_per_request: 50000, max_glossaries: 100,
    credit_minor_per_million: 2500, currency: EUR }
`;

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  let folder: Folder;
  let env: Record<string, string>;
  let redis: RedisServer | undefined;
  const run = (...args: string[]): Promise<Ended> => inProcess(args, env);
  const report = async <T = Report>(...args: string[]): Promise<T> => parsed(await run(...args, '--json')) as T;
  const file = (name: string): string => join(folder.path, name);
  const creation = (plan: string, more: readonly string[]): string[] => [
    'team',
    'create',
    ...(more.includes('--name') ? [] : ['--name', 'Acme']),
    '--plan',
    plan,
    ...more,
    '--config',
    file('plans.yaml'),
  ];
  /** A team to start from. Creating it is not what is tested, so it needs no process. */
  const newTeam = async (plan = 'free', ...more: string[]): Promise<Report> => {
    const made = parsed(await inProcess([...creation(plan, more), '--json'], env)) as Report & { readonly warnings?: unknown };
    // They all have the same name.
    const { warnings: _warnings, ...team } = made;
    return team;
  };

  beforeAll(async () => {
    folder = temporaryFolder();
    writeFileSync(file('plans.yaml'), planFile('1'));
    if (kind === 'redis') redis = await startRedis();
    env = { LINGATE_STORE: redis?.url ?? `sqlite:${folder.path}/data/test.db` };
  });

  afterAll(async () => {
    await redis?.stop();
    folder.remove();
  });

  /** Charges characters to a key, as the gateway would. */
  async function charge(teamId: string, keyId: string, characters: number): Promise<void> {
    const store = await openBeside(env['LINGATE_STORE']!);
    const ledger = promisedLedger(store.ledger);
    const requestId = newId();
    const request = { requestId, teamId, keyId, characters, reserve: true, leaseMs: 60_000, glossary: undefined };
    expect(await ledger.admit(request)).toMatchObject({ kind: 'admitted' });
    expect(await ledger.resolve(teamId, requestId, 'commit')).toEqual({ kind: 'committed' });
    await store.close();
  }

  test('a team is created on a quota plan and gets its limits', async () => {
    const team = await report(...creation('free', []));
    const shape = {
      team_id: expect.stringMatching(ULID) as string,
      name: 'Acme',
      plan: 'free',
      billing: 'quota',
      requests_per_second: 5,
      max_characters_per_request: 10_000,
      max_glossaries: 1,
      characters: 1000,
      period: 'P1M',
      overage_cap_minor: 500,
      overage_minor_per_million: 1_000_000,
      currency: 'EUR',
      created_at: expect.stringMatching(MOMENT) as string,
    };
    expect(team).toEqual(shape);
    expect(await report('team', 'show', team.team_id)).toEqual({ ...team, refusals: NO_REFUSALS });
    expect(await report('team', 'show', team.team_id.toLowerCase())).toMatchObject(team);
    const { teams } = await report<{ teams: Report[] }>('team', 'list');
    expect(teams).toContainEqual(team);
  });

  test('a team is created on a credit plan with its starting credit', async () => {
    expect(await report(...creation('prepaid', ['--credit-minor', '900', '--name', 'Press']))).toEqual({
      team_id: expect.stringMatching(ULID) as string,
      name: 'Press',
      plan: 'prepaid',
      billing: 'credit',
      requests_per_second: 50,
      max_characters_per_request: 50_000,
      max_glossaries: 100,
      credit_minor_per_million: 2500,
      balance_minor: 900,
      currency: 'EUR',
      created_at: expect.stringMatching(MOMENT) as string,
    });
  });

  test('a key is shown once, listed by its display only, and revoked for good', async () => {
    const { team_id: team } = await newTeam();
    const made = await report<KeyReport>('key', 'create', '--team', team, '--mode', 'live', '--label', 'backend');
    expect(made).toEqual({
      key_id: expect.stringMatching(ULID) as string,
      label: 'backend',
      key: expect.stringMatching(/^la_live_[A-Za-z0-9]{40}$/) as string,
      display: made.key.slice(0, 12),
      mode: 'live',
      team_id: team,
    });
    const listed = {
      key_id: made.key_id,
      display: made.display,
      label: 'backend',
      mode: 'live',
      status: 'active',
      created_at: expect.stringMatching(MOMENT) as string,
      last_used_at: null,
    };
    expect(await report('key', 'list', '--team', team)).toEqual({ keys: [listed] });
    const people = await run('key', 'list', '--team', team);
    expect(people.stdout).toContain('never');
    expect(people.stdout).not.toContain(made.key);

    for (const _ of ['first', 'again']) {
      expect(await report('key', 'revoke', made.key_id)).toEqual({ key_id: made.key_id, status: 'revoked' });
    }
    expect(await report('key', 'list', '--team', team)).toEqual({ keys: [{ ...listed, status: 'revoked' }] });
  });

  test('usage prints what GET /v1/usage answers, with overage beyond the limit', async () => {
    const { team_id: team } = await newTeam();
    const { key_id: key, display } = await report<KeyReport>('key', 'create', '--team', team, '--mode', 'test');
    await charge(team, key, 1000);
    await charge(team, key, 234);
    const used = {
      display,
      label: '',
      mode: 'test',
      character_count: 1234,
      request_count: 2,
      last_used_at: expect.stringMatching(MOMENT) as string,
    };
    expect(await report('usage', team)).toEqual({
      team_id: team,
      plan: 'free',
      billing: 'quota',
      requests_per_second: 5,
      period_start: expect.stringMatching(MOMENT) as string,
      period_end: expect.stringMatching(MOMENT) as string,
      character_count: 1234,
      test_character_count: 1234,
      character_limit: 1000,
      overage: { character_count: 234, cost_minor: 234, cap_minor: 500, currency: 'EUR' },
      keys: [used],
    });
    const people = await run('usage', team);
    expect(people.stdout).toMatch(/characters\s+1234 of 1000/);
    expect(people.stdout).toMatch(/(?:just now|seconds? ago) \(\d{4}-/);
    expect((await run('key', 'list', '--team', team)).stdout).toMatch(/(?:just now|seconds? ago) \(\d{4}-/);
  });

  test('usage of a credit team shows the balance', async () => {
    const { team_id: team } = await newTeam('prepaid', '--credit-minor', '900');
    const usage = await report('usage', team);
    expect(usage).toMatchObject({ billing: 'credit', character_count: 0, credit: { balance_minor: 900, currency: 'EUR' }, keys: [] });
    expect(Object.keys(usage)).not.toContain('overage');
  });

  test('a team’s plan is changed and credit is added, together or separately', async () => {
    const { team_id: team } = await newTeam();
    const both = await report('team', 'update', team, '--plan', 'prepaid', '--add-credit-minor', '50', '--config', file('plans.yaml'));
    expect(both).toMatchObject({ plan: 'prepaid', billing: 'credit', balance_minor: 50 });
    expect(await report('team', 'update', team, '--add-credit-minor', '25')).toMatchObject({ balance_minor: 75 });
    expect(await report('team', 'update', team, '--plan', 'free', '--config', file('plans.yaml'))).toMatchObject({
      billing: 'quota',
      characters: 1000,
    });
  });

  test("plan apply gives a plan's changed limits to each of its teams, and to no other team", async () => {
    const [first, second, other] = [await newTeam('tiny'), await newTeam('tiny'), await newTeam('free')];
    writeFileSync(file('changed.yaml'), planFile('7'));
    expect(await report('plan', 'apply', 'tiny', '--config', file('changed.yaml'))).toEqual({
      plan: 'tiny',
      teams: 2,
      changed: 2,
      changes: [{ number: 'requests_per_second', from: 1, to: 7, teams: 2 }],
      dearer: { teams: 0, minor: 0 },
    });
    for (const team of [first, second]) {
      expect(await report('team', 'show', team.team_id)).toMatchObject({ ...team, requests_per_second: 7 });
    }
    expect(await report('team', 'show', other.team_id)).toMatchObject(other);
    expect((await run('plan', 'apply', 'tiny', '--config', file('changed.yaml'))).stdout).toBe('0 of the 2 teams on plan tiny changed.\n');
  });

  test('a name is kept as it was typed, whatever its script', async () => {
    const name = 'Ärger & Söhne 日本 👩‍👩‍👧';
    const team = await report('team', 'create', '--name', ` ${name} `, '--plan', 'free');
    expect(team['name']).toBe(name);
    expect((await run('team', 'list')).stdout).toContain(name);
  });
});

test('commands in processes of their own find what earlier ones have created', async () => {
  const folder = temporaryFolder();
  const run = async (...args: string[]): Promise<Report> =>
    parsed(await lingate([...args, '--store', 'sqlite:data/test.db', '--json'], { cwd: folder.path })) as Report;
  const { team_id: team } = await run('team', 'create', '--name', 'Acme', '--plan', 'free');
  const { key_id: key } = (await run('key', 'create', '--team', team, '--mode', 'live')) as unknown as KeyReport;
  expect(await run('key', 'list', '--team', team)).toMatchObject({ keys: [{ key_id: key, status: 'active' }] });
  expect(await run('usage', team)).toMatchObject({ team_id: team, character_count: 0 });
  folder.remove();
});
