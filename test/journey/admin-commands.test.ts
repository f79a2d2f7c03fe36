// The admin API and the command line agree: what one answers is what the other prints with --json. Each kind of input and of answer has a row;
// the members of all operations are in operator-surface.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { answered as stored, dateOf, dayOf } from '../../src/index.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ADMIN_ROUTES } from '../support/door/tables.ts';
import { ask, onOneGateway, translateText } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import { inProcess, parsed } from '../support/lingate-command.ts';
import { writtenOnce } from '../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = { pro: QUOTA_PLAN, prepaid: CREDIT_PLAN };

interface Made {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

/** What is done to a team beforehand. */
interface Before {
  readonly translate: (made: Made) => Promise<unknown>;
  /** A request that is refused. */
  readonly refuse: (made: Made) => Promise<unknown>;
  readonly revoke: (made: Made) => Promise<unknown>;
  /** Its key gets every limit. */
  readonly limit: (made: Made) => Promise<unknown>;
}

/** Both sides of an operation, each on its own team or key if it changes something. */
interface Row {
  readonly id: string;
  readonly what: string;
  readonly query?: (team: Made) => string;
  readonly body?: (team: Made) => object;
  readonly command: (team: Made) => readonly string[];
  /** The command's standard input. */
  readonly stdin?: (team: Made) => string;
  readonly before?: readonly (keyof Before)[];
}

/** Days around this one. */
const [FROM, TO] = [-1, 1].map((days) => dateOf(dayOf(Date.now()) + days)) as [string, string];
const PREPAID = { name: 'Équipe “A” =1+1', plan: 'prepaid', credit_minor: 700 };
const NO_LIMITS = { expires_at: null, requests_per_second: null, characters: null, allowed_addresses: null, scopes: null };
/** Members of a change that differ in each call. */
const DRAWN = ['team_id', 'key_id', 'key', 'display', 'created_at', 'used'];
const words = (text: string): string[] => text.split(' ');

const ROWS: readonly Row[] = [
  {
    id: 'createTeam',
    what: 'with credit',
    body: () => PREPAID,
    command: () => ['team', 'create', '--name', PREPAID.name, '--plan', 'prepaid', '--credit-minor', '700'],
  },
  { id: 'listTeams', what: 'all of them', query: () => '?limit=200', command: () => ['team', 'list'] },
  {
    id: 'updateTeam',
    what: 'plan, when the period ends',
    body: () => ({ plan: 'prepaid', when: 'next-period' }),
    command: ({ id }) => ['team', 'update', id, '--plan', 'prepaid', '--when', 'next-period'],
  },
  {
    id: 'updateTeam',
    what: 'no reference',
    body: () => ({ reference: null }),
    command: ({ id }) => ['team', 'update', id, '--no-reference'],
  },
  {
    id: 'updateTeam',
    what: 'credit that is deducted',
    body: () => ({ add_credit_minor: -50, reason: 'paid “twice”' }),
    command: ({ id }) => ['team', 'update', id, '--add-credit-minor', '-50', '--reason', 'paid “twice”'],
  },
  ...['day', 'total'].map((by): Row => ({
    id: 'listUsage',
    what: `of a team by ${by}`,
    query: ({ id }) => `?from=${FROM}&to=${TO}&by=${by}&team=${id}`,
    command: ({ id }) => words(`usage export --from ${FROM} --to ${TO} --by ${by} --team ${id}`),
    before: ['translate'],
  })),
  {
    id: 'listInvoices',
    what: 'of a team, with the running period',
    query: ({ id }) => `?from=${FROM}&to=${TO}&open=true&team=${id}`,
    command: ({ id }) => words(`invoices --from ${FROM} --to ${TO} --open --team ${id}`),
    before: ['translate'],
  },
  {
    id: 'createKey',
    what: 'with limits',
    body: () => ({
      mode: 'live',
      expires_at: '2099-01-01T01:00:00+01:00',
      requests_per_second: 5,
      characters: 9,
      allowed_addresses: ['::1', '10.1.2.3/8'],
      scopes: ['usage:read', 'forward:voices'],
    }),
    command: ({ id }) => [
      ...words(`key create --team ${id} --mode live --expires-at 2099-01-01T00:00:00Z --requests-per-second 5 --characters 9`),
      ...words('--allow ::1 --allow 10.0.0.0/8 --scope usage:read --scope forward:voices'),
    ],
  },
  {
    id: 'updateKey',
    what: 'enabling, and removing all limits',
    body: () => ({ disabled: false, label: '', ...NO_LIMITS }),
    command: ({ keyId }) =>
      words(`key update ${keyId} --enable --no-label --no-expires-at --no-requests-per-second --no-characters --no-allow --no-scopes`),
    before: ['limit'],
  },
  {
    id: 'setTag',
    what: 'every limit',
    body: () => ({ requests_per_second: 5, characters: 9, limits: [{ per: 'day', characters: 900 }] }),
    command: ({ id }) => words(`tag set ${id} b2b/EU --requests-per-second 5 --characters 9 --limit characters=900/day`),
  },
  {
    id: 'findKeys',
    what: 'by the whole key, used and revoked',
    body: ({ key }) => ({ key }),
    command: () => ['key', 'find'],
    stdin: ({ key }) => `${key}\n`,
    before: ['translate', 'revoke'],
  },
  {
    id: 'listAudit',
    what: 'of a team',
    query: ({ id }) => `?team=${id}`,
    command: ({ id }) => ['audit', 'list', '--team', id],
    before: ['revoke'],
  },
  {
    id: 'listRequests',
    what: 'since a day, with a status',
    query: () => `?status=400&since=${FROM}&limit=200`,
    command: () => ['requests', '--status', '400', '--since', FROM],
    before: ['refuse'],
  },
];

onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const cli = async (args: readonly string[], stdin = ''): Promise<Json> => {
    const file = fileWith(JSON.stringify({ plans: PLANS, admin: { token: TOKEN }, ops: `127.0.0.1:${setting.gateway.opsPort}` }));
    return parsed(await inProcess([...args, '--json', '--config', file, '--store', setting.url], {}, stdin)) as Json;
  };

  const make = async (): Promise<Made> => {
    const id = String((await answered('createTeam', call('POST', '/teams', { body: PREPAID })))['team_id']);
    const { key_id, key } = await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'live', label: 'first' } }));
    return { id, keyId: String(key_id), key: String(key) };
  };
  const before: Before = {
    async translate({ id, key }) {
      expect((await translateText(setting, key, 'four')).status).toBe(200);
      // Only what is settled is reported, and the answer does not wait for it.
      await expect.poll(() => setting.gateway.charged({ teamId: id })).toBe(4);
    },
    async refuse({ key }) {
      const { status } = await ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['a'], target_lang: 'XX' } });
      expect(status).toBe(400);
    },
    async limit({ keyId }) {
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
    revoke: ({ keyId }) => setting.gateway.store.teams.revokeKey(keyId),
  };
  const prepare = async (made: Made, steps: readonly (keyof Before)[]): Promise<void> => {
    for (const step of steps) await before[step](made);
  };
  const withoutDrawn = (value: Json): Json =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, DRAWN.includes(name) ? typeof member : member]));

  test.each(ROWS)('$id $what', async ({ id, query, body, command, stdin, before: steps = [] }) => {
    const { method, path, operation } = ADMIN_ROUTES.find((route) => route.id === id)!;
    const one = await make();
    // Reads use the same team.
    const looks = method === 'GET' || operation.looksOnly === true;
    const other = looks ? one : await make();
    await prepare(one, steps);
    const target = path.replace('{id}', path.startsWith('/keys') ? one.keyId : one.id).replace('{tag}', 'b2b%2FEU');
    const answer = await answered(id, call(method, `${target}${query?.(one) ?? ''}`, body === undefined ? {} : { body: body(one) }));
    if (!looks) await prepare(other, steps);
    const { warnings: _same, ...printed } = await cli(command(other), stdin?.(other));
    // A list of one page ends with it; the command prints everything.
    // Both teams have the same name, of which only the second is warned.
    const { next, warnings: _warnings, ...rest } = answer;
    expect(next ?? null).toBeNull();
    expect(looks ? rest : withoutDrawn(rest)).toEqual(looks ? printed : withoutDrawn(printed));
    expect(Object.keys(rest)).toEqual(Object.keys(printed));
  });

  test('a key without a label and without limits says so in a line of each', async () => {
    const { id } = await make();
    const { stdout } = await inProcess(['key', 'create', '--team', id, '--mode', 'live', '--store', setting.url]);
    expect(stdout).toMatch(/^label +-$/m);
    expect(stdout).toMatch(/^limits +-$/m);
  });
});
