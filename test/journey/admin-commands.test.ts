// The admin API and the command line agree: what one answers is what the other prints with --json. Each kind of input and of answer has a row;
// the members of all operations are in operator-surface.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { answered as stored, dateOf, dayOf } from '../../src/index.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ask, onOneGateway, translateText } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import { inProcess, parsed } from '../support/lingate-command.ts';
import { writtenOnce } from '../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = { pro: QUOTA_PLAN, prepaid: CREDIT_PLAN };

/** Both sides of an operation, each on its own team or key if it changes something. */
interface Row {
  readonly id: string;
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
  readonly revoke: (keyId: string) => Promise<unknown>;
  /** Every limit. */
  readonly limit: (keyId: string) => Promise<unknown>;
}

/** Days around this one. */
const [FROM, TO] = [-1, 1].map((days) => dateOf(dayOf(Date.now()) + days)) as [string, string];
const PREPAID = { name: 'Équipe “A” =1+1', plan: 'prepaid', credit_minor: 700 };
const words = (text: string): string[] => text.split(' ');
const team = ({ id }: Made): string => `/teams/${id}`;
const keyPath = ({ keyId }: Made): string => `/keys/${keyId}`;

const ROWS: readonly Row[] = [
  {
    id: 'createTeam',
    what: 'with credit',
    method: 'POST',
    path: () => '/teams',
    body: PREPAID,
    command: () => ['team', 'create', '--name', PREPAID.name, '--plan', 'prepaid', '--credit-minor', '700'],
    drawn: ['team_id', 'created_at'],
  },
  { id: 'listTeams', what: 'all of them', method: 'GET', path: () => '/teams?limit=200', command: () => ['team', 'list'] },
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
    what: 'no reference',
    method: 'PATCH',
    path: team,
    body: { reference: null },
    command: ({ id }) => ['team', 'update', id, '--no-reference'],
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
  ...['day', 'total'].map((by): Row => ({
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
      ...words(`key create --team ${id} --mode live --expires-at 2099-01-01T00:00:00Z --requests-per-second 5 --characters 9`),
      ...words('--allow ::1 --allow 10.0.0.0/8 --scope usage:read --scope forward:voices'),
    ],
    drawn: ['key_id', 'key', 'display', 'team_id'],
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
    command: ({ keyId }) =>
      words(`key update ${keyId} --enable --no-label --no-expires-at --no-requests-per-second --no-characters --no-allow --no-scopes`),
    drawn: ['key_id', 'display', 'team_id', 'created_at'],
    before: ({ keyId }, { limit }) => limit(keyId),
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
    id: 'listAudit',
    what: 'of a team',
    method: 'GET',
    path: ({ id }) => `/audit?team=${id}`,
    command: ({ id }) => ['audit', 'list', '--team', id],
    before: async ({ keyId }, { revoke }) => revoke(keyId),
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
      const { status } = await translateText(setting, key, 'four');
      // Only what is settled is reported, and the answer does not wait for it.
      await expect.poll(async () => Number(settled(await call('GET', `/teams/${ownerOf.get(key)}/usage`)))).toBe(4);
      return status;
    },
    async refuse(key) {
      const { status } = await ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['a'], target_lang: 'XX' } });
      expect(status).toBe(400);
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
    revoke: (keyId) => setting.gateway.store.teams.revokeKey(keyId),
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

  test('a key without a label and without limits says so in a line of each', async () => {
    const { id } = await make();
    const { stdout } = await inProcess(['key', 'create', '--team', id, '--mode', 'live', '--store', setting.url]);
    expect(stdout).toMatch(/^label +-$/m);
    expect(stdout).toMatch(/^limits +-$/m);
  });
});
