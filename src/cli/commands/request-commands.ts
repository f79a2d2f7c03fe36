// lingate requests: why the latest requests of a running gateway were refused or failed, newest first.
import type { Static } from 'typebox';
import type { RecentRequestAnswer } from '../../admin/admin-schemas.ts';
import { readRequestFilter, reasonOf } from '../../admin/request-filter.ts';
import { teamsMeant } from '../../admin/teams-meant.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { TEAMS_WHERE } from '../operand.ts';
import { GATEWAY_FLAGS, runningGateway } from '../running-gateway.ts';
import { textTable } from '../text-table.ts';

type Reported = Static<typeof RecentRequestAnswer>;

const PAGE = 200;
/** Of the admin API's parameters, by the command's flags. */
const PARAMETERS = { team: 'team', status: 'status', code: 'code', since: 'since', 'request-id': 'request_id' } as const;

export const requests: Command = {
  usage: '[--team TEAM] [--since TIME] [--status N] [--code CODE] [--request-id ID]',
  about:
    'Asks the running gateway, with an admin token of the configuration, or LINGATE_ADMIN_TOKEN if that has none. Each of its processes ' +
    'keeps its latest 1,000 refusals and 1,000 failures in memory; the log has all.',
  flags: {
    team: { kind: 'text', value: 'TEAM', summary: 'only of the team with this id, name or reference', fallback: 'all teams' },
    since: {
      kind: 'text',
      value: 'TIME',
      summary: 'only since then, in UTC: 14:00, 2026-11-22 or 2026-11-22T14:00Z',
      fallback: 'all that are kept',
    },
    status: { kind: 'text', value: 'N', summary: 'only with this status, for example 503' },
    code: { kind: 'text', value: 'CODE', summary: 'only with this code, for example rate_limited' },
    'request-id': { kind: 'text', value: 'ID', summary: 'only the one whose answer had this X-Request-Id' },
    ...GATEWAY_FLAGS,
  },
  examples: [
    'lingate requests --team Example --status 503 --since 14:00',
    'lingate requests --request-id 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json',
  ],
  async run(context) {
    const query = queryOf(context);
    const gateway = runningGateway(context, await context.config());
    const team = query.get('team');
    if (team !== null && canonicalUlid(team) === undefined) query.set('team', await teamIdOf(context, team));
    const found: Reported[] = [];
    for (let next: string | null = ''; next !== null;) {
      if (next !== '') query.set('cursor', next);
      const page = (await gateway.get(`/requests?${query.toString()}`)) as {
        readonly requests: readonly Reported[];
        readonly next: string | null;
      };
      found.push(...page.requests);
      ({ next } = page);
    }
    context.print({ requests: found }, () => textOf(found));
  },
};

/** Throws a `UsageError` for a value that the gateway would refuse. */
function queryOf(context: CommandContext): URLSearchParams {
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const [flag, parameter] of Object.entries(PARAMETERS)) {
    const value = context.text(flag);
    if (value === undefined) continue;
    if (value.trim() === '') throw new UsageError(`--${flag} is empty`);
    query.set(parameter, value);
  }
  const judged = new URLSearchParams(query);
  // It may be a name, which is looked up later.
  judged.delete('team');
  const filter = readRequestFilter(judged, context.io.nowMs());
  if (!('fault' in filter)) {
    // A time of day means the same moment for every page.
    if (filter.sinceMs !== undefined) query.set('since', new Date(filter.sinceMs).toISOString());
    return query;
  }
  const flag = Object.entries(PARAMETERS).find(([, parameter]) => parameter === filter.field)?.[0] ?? filter.field;
  throw new UsageError(`--${flag} ${filter.fault}`);
}

/** Reads the store: the gateway's list has ids alone. */
async function teamIdOf(context: CommandContext, name: string): Promise<string> {
  const { valueOf, withAdmin } = await import('../with-store.ts');
  let ids: readonly string[] = [];
  await withAdmin(context, async (admin) => {
    ids = valueOf(await teamsMeant(admin, name)).map(({ teamId }) => teamId);
  });
  const [id] = ids;
  if (id === undefined) throw new CommandFailure(`there is no team ${JSON.stringify(name)}; ${TEAMS_WHERE}`);
  if (ids.length > 1)
    throw new CommandFailure(
      `${ids.length} teams are meant by ${JSON.stringify(name)}; name one by its id: ${ids.slice(0, 10).join(', ')}`,
    );
  return id;
}

function textOf(found: readonly Reported[]): string {
  if (found.length === 0) return 'None of the requests that the gateway keeps fits.';
  const rows = found.map(({ at, request_id, team_id, route, status, code, failures, parameter, engine, limit_of }) => [
    at,
    route,
    String(status),
    code,
    reasonOf({
      failures: failures.length === 0 ? undefined : failures,
      parameter: parameter ?? undefined,
      engine: engine ?? undefined,
      limitOf: limit_of ?? undefined,
    }),
    team_id ?? '–',
    request_id,
  ]);
  return textTable(['WHEN (UTC)', 'ROUTE', 'STATUS', 'CODE', 'REASON', 'TEAM', 'REQUEST ID'], rows);
}
