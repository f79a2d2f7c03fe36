// The admin API and the command line agree: for every operation, on both stores, the answer is what the command prints with --json.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { ADMIN_ROUTES } from '../support/door/tables.ts';
import { answered as stored, dateOf, dayOf } from '../../src/index.ts';
import type { AdminRouteId } from '../../src/admin/admin-routes.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ask, onOneGateway } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import { inProcess, parsed } from '../support/lingate-command.ts';
import { writtenOnce } from '../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = { pro: QUOTA_PLAN, prepaid: CREDIT_PLAN };

/** Both sides of an operation, each on its own team or key if it changes something. */
interface Row {
  readonly id: AdminRouteId;
  readonly what: string;
  readonly method: string;
  readonly path: (team: Made) => string;
  readonly body?: object | ((team: Made) => object);
  /** Changes nothing although it is not a GET. */
  readonly looksOnly?: true;
  /** The command's standard input. */
  readonly stdin?: (team: Made) => string;
  readonly command: (team: Made) => readonly string[];
  /** Members that differ in each call. */
  readonly drawn?: readonly string[];
  /** Prepares a team beforehand. */
  readonly before?: (team: Made, setting: Before) => Promise<unknown>;
}

interface Made {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

interface Before {
  readonly translate: (key: string) => Promise<number>;
  /** A request that is refused. */
  readonly refuse: (key: string) => Promise<unknown>;
  readonly outdate: (teamId: string) => Promise<unknown>;
  readonly revoke: (keyId: string) => Promise<unknown>;
  readonly glossary: (key: string) => Promise<unknown>;
  /** Every limit. */
  readonly limit: (keyId: string) => Promise<unknown>;
  readonly limitTags: (teamId: string) => Promise<unknown>;
}

/** Days around this one. */
const [FROM, TO] = [-1, 1].map((days) => dateOf(dayOf(Date.now()) + days)) as [string, string];
const NEW = { name: 'Équipe “A” =1+1', plan: 'pro' };
const PREPAID = { name: 'Presse', plan: 'prepaid', credit_minor: 700 };
const team = ({ id }: Made): string => `/teams/${id}`;
const keyPath = ({ keyId }: Made): string => `/keys/${keyId}`;

const ROWS: readonly Row[] = [
  {
    id: 'createTeam',
    what: 'on a quota plan',
    method: 'POST',
    path: () => '/teams',
    body: NEW,
    command: () => ['team', 'create', '--name', NEW.name, '--plan', 'pro'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'createTeam',
    what: 'with credit',
    method: 'POST',
    path: () => '/teams',
    body: PREPAID,
    command: () => ['team', 'create', '--name', 'Presse', '--plan', 'prepaid', '--credit-minor', '700'],
    drawn: ['team_id', 'created_at'],
  },
  { id: 'showTeam', what: '', method: 'GET', path: team, command: ({ id }) => ['team', 'show', id] },
  { id: 'listTeams', what: 'all of them', method: 'GET', path: () => '/teams?limit=200', command: () => ['team', 'list'] },
  {
    id: 'updateTeam',
    what: 'plan',
    method: 'PATCH',
    path: team,
    body: { plan: 'pro' },
    command: ({ id }) => ['team', 'update', id, '--plan', 'pro'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'name',
    method: 'PATCH',
    path: team,
    body: { name: 'Équipe “B”' },
    command: ({ id }) => ['team', 'update', id, '--name', 'Équipe “B”'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'plan, when the period ends',
    method: 'PATCH',
    path: team,
    body: { plan: 'prepaid', when: 'next-period' },
    command: ({ id }) => ['team', 'update', id, '--plan', 'prepaid', '--when', 'next-period'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'no plan when the period ends',
    method: 'PATCH',
    path: team,
    body: { when: 'never' },
    command: ({ id }) => ['team', 'update', id, '--when', 'never'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'reference',
    method: 'PATCH',
    path: team,
    body: { reference: 'K-20417 “B”' },
    command: ({ id }) => ['team', 'update', id, '--reference', 'K-20417 “B”'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'no reference',
    method: 'PATCH',
    path: team,
    body: { reference: null },
    command: ({ id }) => ['team', 'update', id, '--no-reference'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'credit',
    method: 'PATCH',
    path: team,
    body: { add_credit_minor: 50 },
    command: ({ id }) => ['team', 'update', id, '--add-credit-minor', '50'],
    drawn: ['team_id', 'created_at'],
  },
  {
    id: 'updateTeam',
    what: 'credit that is deducted',
    method: 'PATCH',
    path: team,
    body: { add_credit_minor: -50, reason: 'paid “twice”' },
    command: ({ id }) => ['team', 'update', id, '--add-credit-minor', '-50', '--reason', 'paid “twice”'],
    drawn: ['team_id', 'created_at'],
  },
  { id: 'teamUsage', what: 'of nothing', method: 'GET', path: (made) => `${team(made)}/usage`, command: ({ id }) => ['usage', id] },
  {
    id: 'teamUsage',
    what: 'after use',
    method: 'GET',
    path: (made) => `${team(made)}/usage`,
    command: ({ id }) => ['usage', id],
    before: async ({ key }, { translate }) => expect(await translate(key)).toBe(200),
  },
  {
    id: 'listPeriods',
    what: 'of nothing',
    method: 'GET',
    path: (made) => `${team(made)}/periods`,
    command: ({ id }) => ['usage', 'periods', id],
  },
  {
    id: 'listPeriods',
    what: 'after use',
    method: 'GET',
    path: (made) => `${team(made)}/periods`,
    command: ({ id }) => ['usage', 'periods', id],
    before: async ({ key }, { translate }) => expect(await translate(key)).toBe(200),
  },
  ...['day', 'month', 'total'].map((by): Row => ({
    id: 'listUsage',
    what: `of a team by ${by}`,
    method: 'GET',
    path: ({ id }) => `/usage?from=${FROM}&to=${TO}&by=${by}&team=${id}`,
    command: ({ id }) => ['usage', 'export', '--from', FROM, '--to', TO, '--by', by, '--team', id],
    before: async ({ key }, { translate }) => expect(await translate(key)).toBe(200),
  })),
  {
    id: 'listInvoices',
    what: 'of a team, with the running period',
    method: 'GET',
    path: ({ id }) => `/invoices?from=${FROM}&to=${TO}&open=true&team=${id}`,
    command: ({ id }) => ['invoices', '--from', FROM, '--to', TO, '--open', '--team', id],
    before: async ({ key }, { translate }) => expect(await translate(key)).toBe(200),
  },
  {
    id: 'listInvoices',
    what: 'of a month in which nothing was closed',
    method: 'GET',
    path: () => '/invoices?month=2020-01',
    command: () => ['invoices', '--month', '2020-01'],
  },
  {
    id: 'listUsage',
    what: 'of all keys',
    method: 'GET',
    path: () => `/usage?from=${FROM}&to=${TO}&keys=true&limit=200`,
    command: () => ['usage', 'export', '--from', FROM, '--to', TO, '--keys'],
    before: async ({ key }, { translate }) => expect(await translate(key)).toBe(200),
  },
  {
    id: 'createKey',
    what: '',
    method: 'POST',
    path: (made) => `${team(made)}/keys`,
    body: { mode: 'test', label: 'backend' },
    command: ({ id }) => ['key', 'create', '--team', id, '--mode', 'test', '--label', 'backend'],
    drawn: ['key_id', 'key', 'display', 'team_id'],
  },
  {
    id: 'createKey',
    what: 'with limits',
    method: 'POST',
    path: (made) => `${team(made)}/keys`,
    body: {
      mode: 'live',
      expires_at: '2099-01-01T01:00:00+01:00',
      requests_per_second: 5,
      characters: 9,
      allowed_addresses: ['::1', '10.1.2.3/8'],
      scopes: ['usage:read', 'forward:voices'],
    },
    command: ({ id }) => [
      'key',
      'create',
      '--team',
      id,
      '--mode',
      'live',
      '--expires-at',
      '2099-01-01T00:00:00Z',
      '--requests-per-second',
      '5',
      '--characters',
      '9',
      '--allow',
      '::1',
      '--allow',
      '10.0.0.0/8',
      '--scope',
      'usage:read',
      '--scope',
      'forward:voices',
    ],
    drawn: ['key_id', 'key', 'display', 'team_id'],
  },
  {
    id: 'updateKey',
    what: 'limits and label',
    method: 'PATCH',
    path: keyPath,
    body: { label: '“x”', expires_at: null, requests_per_second: 7, allowed_addresses: ['192.0.2.1'] },
    command: ({ keyId }) => [
      'key',
      'update',
      keyId,
      '--label',
      '“x”',
      '--no-expires-at',
      '--requests-per-second',
      '7',
      '--allow',
      '192.0.2.1',
    ],
    drawn: ['key_id', 'display', 'team_id', 'created_at'],
    before: ({ keyId }, { limit }) => limit(keyId),
  },
  {
    id: 'updateKey',
    what: 'disabling, which the answer also reports for replicas',
    method: 'PATCH',
    path: keyPath,
    body: { disabled: true },
    command: ({ keyId }) => ['key', 'update', keyId, '--disable'],
    drawn: ['key_id', 'display', 'team_id', 'created_at'],
  },
  {
    id: 'updateKey',
    what: 'enabling, and removing all limits',
    method: 'PATCH',
    path: keyPath,
    body: {
      disabled: false,
      label: '',
      expires_at: null,
      requests_per_second: null,
      characters: null,
      allowed_addresses: null,
      scopes: null,
    },
    command: ({ keyId }) => [
      'key',
      'update',
      keyId,
      '--enable',
      '--no-label',
      '--no-expires-at',
      '--no-requests-per-second',
      '--no-characters',
      '--no-allow',
      '--no-scopes',
    ],
    drawn: ['key_id', 'display', 'team_id', 'created_at'],
    before: ({ keyId }, { limit }) => limit(keyId),
  },
  {
    id: 'listKeys',
    what: 'limited, disabled and expired ones',
    method: 'GET',
    path: (made) => `${team(made)}/keys`,
    command: ({ id }) => ['key', 'list', '--team', id],
    before: ({ keyId }, { limit }) => limit(keyId),
  },
  {
    id: 'findKeys',
    what: 'with limits',
    method: 'POST',
    path: () => '/keys/find',
    body: ({ key }) => ({ display: key.slice(0, 12) }),
    looksOnly: true,
    command: ({ key }) => ['key', 'find', '--display', key.slice(0, 12)],
    before: ({ keyId }, { limit }) => limit(keyId),
  },
  {
    id: 'listKeys',
    what: 'used and revoked ones',
    method: 'GET',
    path: (made) => `${team(made)}/keys`,
    command: ({ id }) => ['key', 'list', '--team', id],
    before: async ({ key, keyId }, { translate, revoke }) => {
      await translate(key);
      await revoke(keyId);
    },
  },
  {
    id: 'setTag',
    what: 'every limit',
    method: 'PUT',
    path: (made) => `${team(made)}/tags/b2b%2FEU`,
    body: { requests_per_second: 5, characters: 9, limits: [{ per: 'day', characters: 900 }] },
    command: ({ id }) => ['tag', 'set', id, 'b2b/EU', '--requests-per-second', '5', '--characters', '9', '--limit', 'characters=900/day'],
    drawn: ['used'],
  },
  {
    id: 'setTag',
    what: 'disabling',
    method: 'PUT',
    path: (made) => `${team(made)}/tags/acme`,
    body: { disabled: true },
    command: ({ id }) => ['tag', 'set', id, 'acme', '--disable'],
  },
  {
    id: 'listTags',
    what: 'limited and disabled ones',
    method: 'GET',
    path: (made) => `${team(made)}/tags`,
    command: ({ id }) => ['tag', 'list', id],
    before: ({ id }, { limitTags }) => limitTags(id),
  },
  {
    id: 'listGlossaries',
    what: 'of none',
    method: 'GET',
    path: (made) => `${team(made)}/glossaries`,
    command: ({ id }) => ['glossary', 'list', '--team', id],
  },
  {
    id: 'listGlossaries',
    what: 'of one',
    method: 'GET',
    path: (made) => `${team(made)}/glossaries`,
    command: ({ id }) => ['glossary', 'list', '--team', id],
    before: ({ key }, { glossary }) => glossary(key),
  },
  {
    id: 'revokeKey',
    what: '',
    method: 'POST',
    path: ({ keyId }) => `/keys/${keyId}/revoke`,
    command: ({ keyId }) => ['key', 'revoke', keyId],
    drawn: ['key_id'],
  },
  {
    id: 'findKeys',
    what: 'by its beginning',
    method: 'POST',
    path: () => '/keys/find',
    body: ({ key }) => ({ display: key.slice(0, 12) }),
    looksOnly: true,
    command: ({ key }) => ['key', 'find', '--display', key.slice(0, 12)],
  },
  {
    id: 'findKeys',
    what: 'by the whole key, used and revoked',
    method: 'POST',
    path: () => '/keys/find',
    body: ({ key }) => ({ key }),
    looksOnly: true,
    command: () => ['key', 'find'],
    stdin: ({ key }) => `${key}\n`,
    before: async ({ key, keyId }, { translate, revoke }) => {
      await translate(key);
      await revoke(keyId);
    },
  },
  {
    id: 'revokeKey',
    what: 'by the whole key',
    method: 'POST',
    path: ({ keyId }) => `/keys/${keyId}/revoke`,
    command: () => ['key', 'revoke', '--stdin'],
    stdin: ({ key }) => key,
    drawn: ['key_id'],
  },
  {
    id: 'applyPlan',
    what: 'that a team uses',
    method: 'POST',
    path: () => '/plans/prepaid/apply',
    command: () => ['plan', 'apply', 'prepaid'],
    drawn: ['teams'],
    before: ({ id }, { outdate }) => outdate(id),
  },
  {
    id: 'applyPlan',
    what: 'that no team uses',
    method: 'POST',
    path: () => '/plans/pro/apply',
    command: () => ['plan', 'apply', 'pro'],
  },
  {
    id: 'listAudit',
    what: 'of a team',
    method: 'GET',
    path: ({ id }) => `/audit?team=${id}`,
    command: ({ id }) => ['audit', 'list', '--team', id],
    before: async ({ keyId }, { revoke }) => revoke(keyId),
  },
  { id: 'listAudit', what: 'of all teams', method: 'GET', path: () => '/audit?limit=200', command: () => ['audit', 'list'] },
  {
    id: 'listDocuments',
    what: 'of a team',
    method: 'GET',
    path: ({ id }) => `/documents?team=${id}`,
    command: ({ id }) => ['documents', 'list', '--team', id],
  },
  {
    id: 'listRequests',
    what: 'of a team',
    method: 'GET',
    path: ({ id }) => `/requests?team=${id}`,
    command: ({ id }) => ['requests', '--team', id],
    before: ({ key }, { refuse }) => refuse(key),
  },
  {
    id: 'listRequests',
    what: 'since a day, with a status',
    method: 'GET',
    path: () => `/requests?status=400&since=${FROM}&limit=200`,
    command: () => ['requests', '--status', '400', '--since', FROM],
    before: ({ key }, { refuse }) => refuse(key),
  },
];

/** What programs call and nobody types. */
const WITHOUT_COMMAND: readonly AdminRouteId[] = ['listPlans', 'live', 'showTag'];
/** Answered by the status alone; their commands are in erasure.test.ts and tag-limits.test.ts. */
const WITHOUT_BODY: readonly AdminRouteId[] = ['deleteTeam', 'deleteGlossary', 'deleteTag'];

test('every operation of the admin API is in the table', () => {
  expect([...new Set([...ROWS.map(({ id }) => id), ...WITHOUT_COMMAND, ...WITHOUT_BODY])].toSorted()).toEqual(
    ADMIN_ROUTES.map(({ id }) => id).toSorted(),
  );
});

onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const cli = async (args: readonly string[], stdin = ''): Promise<Json> => {
    const where = [
      '--config',
      fileWith(JSON.stringify({ plans: PLANS, admin: { token: TOKEN }, ops: `127.0.0.1:${setting.gateway.opsPort}` })),
      '--store',
      setting.url,
    ];
    return parsed(await inProcess([...args, '--json', ...where], {}, stdin)) as Json;
  };

  const make = async (): Promise<Made> => {
    const id = String((await answered('createTeam', call('POST', '/teams', { body: PREPAID })))['team_id']);
    const { key_id, key } = await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'live', label: 'first' } }));
    return { id, keyId: String(key_id), key: String(key) };
  };
  const before: Before = {
    async translate(key) {
      const body = { text: ['four'], target_lang: 'DE' };
      const { status } = await ask(setting, { method: 'POST', path: '/v1/translate', key, body });
      // Only what is settled is reported, and the answer does not wait for it.
      await expect.poll(async () => Number(settled(await call('GET', `/teams/${ownerOf.get(key)}/usage`)))).toBe(4);
      return status;
    },
    async refuse(key) {
      const { status } = await ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['a'], target_lang: 'XX' } });
      expect(status).toBe(400);
    },
    async outdate(teamId) {
      const { limits } = stored(await setting.gateway.store.teams.findTeam(teamId))!;
      return setting.gateway.store.teams.updateTeam(teamId, { plan: { name: 'prepaid', limits: { ...limits, requestsPerSecond: 7 } } });
    },
    async limit(keyId) {
      const limits = {
        expiresAtMs: 1_000_000,
        requestsPerSecond: 5,
        characters: 9,
        allowedAddresses: ['10.0.0.0/8', '::1/128'],
        scopes: ['usage:read'],
      };
      const record = stored(await setting.gateway.store.teams.updateKey(keyId, { disabled: true, limits }));
      expect(record).toMatchObject({ status: 'disabled', limits });
    },
    async limitTags(teamId) {
      const { tagSettings } = setting.gateway.store;
      await tagSettings.set(teamId, 'acme', { disabled: false, requestsPerSecond: 5, characters: 9 }, 2);
      expect(await tagSettings.set(teamId, 'b2b/eu', { disabled: true }, 2)).toMatchObject({ kind: 'set' });
    },
    revoke: (keyId) => setting.gateway.store.teams.revokeKey(keyId),
    async glossary(key) {
      const body = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { cat: 'Katze', dog: 'Hund' } };
      expect((await ask(setting, { method: 'POST', path: '/v1/glossaries', key, body })).status).toBe(201);
    },
  };
  const ownerOf = new Map<string, string>();
  const settled = ({ body }: { readonly body: string }): unknown => (JSON.parse(body) as Json)['character_count'];
  const without = (value: Json, drawn: readonly string[] = []): Json =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, drawn.includes(name) ? typeof member : member]));

  test.each(ROWS)('$id $what', async ({ id, method, path, body, looksOnly, command, stdin, drawn, before: prepare }) => {
    const one = await make();
    // Reads use the same team.
    const looks = method === 'GET' || looksOnly === true;
    const other = looks ? one : await make();
    for (const made of new Set([one, other])) ownerOf.set(made.key, made.id);
    await prepare?.(one, before);
    const answer = await answered(
      id,
      call(method, path(one), body === undefined ? {} : { body: typeof body === 'function' ? body(one) : body }),
    );
    if (!looks) await prepare?.(other, before);
    const { warnings: _same, ...printed } = await cli(command(other), stdin?.(other));
    // A list of one page ends with it; the command prints everything.
    // Both teams have the same name, of which only the second is warned.
    const { next, warnings: _warnings, ...rest } = answer;
    expect(next ?? null).toBeNull();
    expect(without(rest, drawn)).toEqual(without(printed, drawn));
    expect(Object.keys(rest)).toEqual(Object.keys(printed));
  });
});
