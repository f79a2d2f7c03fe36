// lingate team create, list, show, update and delete.
import type { AdminOperations } from '../../admin/admin-operations.ts';
import { teamReport } from '../../admin/reports.ts';
import { readTeamFilter, TEAM_CRITERIA, TEAM_CRITERION_NAMES } from '../../admin/team-filter.ts';
import type { TeamFilter } from '../../admin/team-filter.ts';
import { judgeNewTeam } from '../../admin/team-terms.ts';
import { windowTexts } from '../../domain/given-windows.ts';
import { holdsKey } from '../../domain/api-key.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { anchorOf, lengthOf } from '../../domain/period-rule.ts';
import { rfc3339 } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { RefusalCounts } from '../../ports/refusal-days.ts';
import type { Team } from '../../ports/team-registry.ts';
import { UsageError } from '../command.ts';
import type { Command } from '../command.ts';
import { confirm, confirmedDearer, requireConfirmable, YES, YES_DEARER } from '../confirmation.ts';
import type { Confirmation } from '../confirmation.ts';
import { typed } from '../help.ts';
import { given, readMinor, readMinorChange, readName, readPlanTime, readReason, readReference, teamOperand, WHEN } from '../operand.ts';
import { labelled, textTable } from '../text-table.ts';
import { printChange, valueOf, withAdmin } from '../with-store.ts';

export const teamCreate: Command = {
  makesStore: true,
  usage: '--name NAME --plan PLAN [--reference R] [--credit-minor N]',
  about: 'The plan\'s numbers are copied into the team\'s record; "lingate plan apply" applies later changes of the plan to it.',
  flags: {
    name: { kind: 'text', value: 'NAME', summary: 'the name of the team', required: true },
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', required: true },
    reference: { kind: 'text', value: 'R', summary: 'your own word for it, for example a customer number' },
    'credit-minor': { kind: 'text', value: 'N', summary: 'starting credit in minor units (cents); only with a credit plan', fallback: '0' },
  },
  examples: [
    'lingate team create --name "Web shop" --plan pro',
    'lingate team create --name "Web shop" --plan pro --reference K-20417',
    'lingate team create --name Press --plan prepaid --credit-minor 5000',
  ],
  async run(context) {
    const name = readName('name', context.required('name'));
    const plan = context.required('plan');
    const reference = given(context, 'reference', readReference);
    const creditMinor = given(context, 'credit-minor', readMinor);
    // Checked before the store is opened, so that a refused command does not create a database.
    valueOf(judgeNewTeam((await context.config()).plans, { plan, creditMinor }));
    await withAdmin(context, async (admin) => {
      const result = await admin.createTeam({ name, reference, plan, creditMinor });
      const team = valueOf(result);
      const next = typed(`Next, a key for it: lingate key create --team ${team.teamId} --mode live`, context.io.env);
      printChange(context, result, teamReport(team), `${teamText(team)}\n\n${next}`);
    });
  },
};

export const teamList: Command = {
  usage: `[--search TEXT] ${TEAM_CRITERION_NAMES.map((name) => `[--${name} ${TEAM_CRITERIA[name].value}]`).join(' ')}`,
  flags: {
    search: { kind: 'text', value: 'TEXT', summary: 'only teams whose name, reference or id contains this text', fallback: 'all teams' },
    ...Object.fromEntries(
      Object.entries(TEAM_CRITERIA).map(([name, { about, value }]) => [
        name,
        { kind: 'text' as const, value, summary: about, fallback: 'all teams' },
      ]),
    ),
  },
  examples: [
    'lingate team list',
    'lingate team list --search K-20417',
    'lingate team list --plan pro --standing near_limit',
    'lingate team list --json',
  ],
  async run(context) {
    const read = readTeamFilter((name) => context.text(name));
    if ('fault' in read) throw new UsageError(`--${read.field} ${read.fault}`);
    const search = given(context, 'search', readSearch);
    await withAdmin(context, async (admin, store) => {
      const { filter } = read;
      const isWhole = filter === undefined && search === undefined;
      const teams = isWhole ? answered(await store.teams.listTeams()) : await filtered(admin, search, filter);
      const none = isWhole ? NO_TEAMS : 'No team fits.';
      context.print({ teams: teams.map(teamReport) }, () => (teams.length === 0 ? none : teamTable(teams)));
    });
  },
};

const SEARCH_MAX = 100;

function readSearch(flag: string, value: string): string {
  const text = value.trim();
  if (text === '') throw new UsageError(`--${flag} is blank; give a part of a name, reference or id`);
  if (text.length > SEARCH_MAX) throw new UsageError(`--${flag} is too long; it may have at most ${SEARCH_MAX} characters`);
  if (holdsKey(text)) throw new UsageError(`--${flag} contains a key; find it with "lingate key find"`);
  return text;
}

const NO_TEAMS = 'There are no teams yet; create one with "lingate team create".';
const FILTERED_PAGE = 200;

async function filtered(admin: AdminOperations, search: string | undefined, filter: TeamFilter): Promise<readonly Team[]> {
  const teams: Team[] = [];
  let after: string | undefined;
  do {
    const page = valueOf(await admin.listTeams({ after, limit: FILTERED_PAGE, search }, filter));
    teams.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return teams;
}

export const teamShow: Command = {
  usage: 'TEAM',
  operands: ['TEAM'],
  examples: ['lingate team show 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = teamOperand(context);
    await withAdmin(context, async (admin) => {
      const { figures, refusals } = valueOf(await admin.showTeamUse(teamId));
      const { team } = figures;
      context.print({ ...teamReport(team), refusals }, () => teamText(team, { refused: refusedText(refusals) }));
    });
  },
};

export const teamUpdate: Command = {
  usage: 'TEAM [--plan PLAN] [--when TIME] [--name NAME] [--reference R] [--add-credit-minor N] [--yes]',
  about:
    'The change takes effect at the next request. A plan with another period length starts a new period. If a plan makes the ' +
    'running period dearer, it asks before it changes anything.',
  operands: ['TEAM'],
  flags: {
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', fallback: 'unchanged' },
    when: WHEN,
    name: { kind: 'text', value: 'NAME', summary: 'another name for the team', fallback: 'unchanged' },
    reference: { kind: 'text', value: 'R', summary: 'your own word for it, for example a customer number', fallback: 'unchanged' },
    'no-reference': { kind: 'switch', summary: 'remove its reference' },
    'add-credit-minor': {
      kind: 'text',
      value: 'N',
      summary: 'credit to add, in minor units (cents); negative to deduct it; only with a credit plan',
    },
    reason: { kind: 'text', value: 'TEXT', summary: 'why, for the audit; required to deduct credit' },
    yes: YES_DEARER,
  },
  examples: [
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --plan pro',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --plan pro --when next-period',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --name "Web shop"',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor 2500',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor -500 --reason "invoice 1042 was paid twice"',
  ],
  async run(context) {
    const plan = context.text('plan');
    const when = given(context, 'when', readPlanTime);
    if (when !== undefined && (when === 'never') === (plan !== undefined)) {
      throw new UsageError('--when now and --when next-period need a --plan, --when never takes none');
    }
    if (!['plan', 'when', 'name', 'reference', 'no-reference', 'add-credit-minor'].some((flag) => context.on(flag))) {
      throw new UsageError('nothing to change; give --plan, --name, --reference, --no-reference or --add-credit-minor');
    }
    if (context.on('reference') && context.on('no-reference')) {
      throw new UsageError('--reference and --no-reference exclude each other; give one of them');
    }
    const name = given(context, 'name', readName);
    const reference = context.on('no-reference') ? null : given(context, 'reference', readReference);
    const addCreditMinor = given(context, 'add-credit-minor', readMinorChange);
    const reason = given(context, 'reason', readReason);
    if (addCreditMinor !== undefined && addCreditMinor < 0 && reason === undefined) {
      throw new UsageError('--reason is missing: it is required to deduct credit, and recorded in the audit');
    }
    const teamId = teamOperand(context);
    await withAdmin(context, async (admin) => {
      const result = await confirmedDearer(context, plan ?? '', (confirmed) =>
        admin.updateTeam(teamId, { name, reference, plan, when, confirmed, addCreditMinor, reason }),
      );
      const team = valueOf(result, '--add-credit-minor');
      printChange(context, result, teamReport(team), teamText(team));
    });
  },
};

export const teamDelete: Command = {
  usage: 'TEAM [--keep-usage] [--yes]',
  about:
    'Deletes its keys, glossaries and history from the store; its keys are refused at their next request, on every node. ' +
    'This cannot be undone: at a terminal you must type the name of the team. If a deletion was interrupted, repeat it. ' +
    'Without --keep-usage it also deletes the usage that an earlier deletion kept.',
  operands: ['TEAM'],
  flags: {
    'keep-usage': { kind: 'switch', summary: 'keep its days and periods, without names and labels' },
    yes: YES,
  },
  examples: [
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --keep-usage',
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --yes --json',
  ],
  async run(context) {
    const teamId = teamOperand(context);
    const keepUsage = context.on('keep-usage');
    requireConfirmable(context, 'deleting a team');
    await withAdmin(context, async (admin) => {
      const team = await admin.showTeam(teamId);
      // A team that is already deleted may have left data behind.
      if (team.kind === 'done') await confirm(context, deletionOf(team.value));
      const result = await admin.deleteTeam(teamId, keepUsage);
      valueOf(result);
      // Running gateways clear their caches themselves; this clears the shared one in case none is running.
      const { forgetInPlugins } = await import('../../app/forget-team.ts');
      for (const { plugin } of (await forgetInPlugins(await context.config(), teamId)).filter(({ failed }) => failed)) {
        context.io.err(
          `lingate team delete: the data that plugin ${plugin} stores of the team could not be reached; it is deleted when it expires\n`,
        );
      }
      printChange(
        context,
        result,
        { team_id: teamId, status: 'deleted', kept_usage: keepUsage },
        `Team ${teamId} is deleted${keepUsage ? '; its days and periods are kept' : ''}.`,
      );
    });
  },
};

function deletionOf({ name }: Team): Confirmation {
  return { does: `This deletes the team ${JSON.stringify(name)} permanently.`, word: name, wordIs: 'its name' };
}

function teamText(team: Team, more: Readonly<Record<string, string>> = {}): string {
  const { next_plan: next, limits: _limits, ...report } = teamReport(team);
  const windows = windowTexts(team.limits.windows);
  const added: Record<string, string> = {};
  if (windows.length > 0) added['limits'] = windows.join(', ');
  if (next !== undefined) added['next_plan'] = `${next.plan}, when the period ends`;
  return labelled({ ...report, ...added, ...more });
}

function refusedText(refusals: RefusalCounts | undefined): string {
  const some = Object.entries(refusals ?? {}).flatMap(([code, count]) => (count > 0 ? [`${count} ${code}`] : []));
  return some.length === 0 ? 'none in this period' : `${some.join(', ')} in this period`;
}

function teamTable(teams: readonly Team[]): string {
  const hasReferences = teams.some(({ reference }) => reference !== undefined);
  const rows = teams.map((team) => {
    const { limits } = team;
    const has =
      limits.billing === 'credit'
        ? `${minorRoundedDown(team.balanceMicro)} minor ${limits.currency}`
        : `${limits.characterLimit} per ${anchorOf(limits.period) === 'calendar' ? 'calendar ' : ''}${lengthOf(limits.period)}`;
    const called = hasReferences ? [team.name, team.reference ?? ''] : [team.name];
    return [team.teamId, ...called, team.plan, limits.billing, `${limits.requestsPerSecond}/s`, has, rfc3339(team.createdAtMs)];
  });
  return textTable(
    ['TEAM', 'NAME', ...(hasReferences ? ['REFERENCE'] : []), 'PLAN', 'BILLING', 'RATE', 'CHARACTERS OR BALANCE', 'CREATED'],
    rows,
  );
}
