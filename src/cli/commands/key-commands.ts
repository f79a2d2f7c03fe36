// lingate key create, list, find, update and revoke.
import type { AdminOperations } from '../../admin/admin-operations.ts';
import { changedKeyReport, foundKeyReport, keyReport } from '../../admin/reports.ts';
import type { ChangedKeyReport } from '../../admin/reports.ts';
import { matchesDisplay } from '../../domain/api-key.ts';
import type { KeyMode } from '../../domain/api-key.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { rfc3339 } from '../../domain/period.ts';
import type { KeyChange } from '../../ports/team-registry.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirm, requireConfirmable, YES } from '../confirmation.ts';
import {
  keyTable,
  LIMIT_FLAGS,
  limitsText,
  NO_LIMIT_FLAGS,
  readLimitChange,
  readLimits,
  readWindowChange,
  STATUS_NOTES,
} from '../key-flags.ts';
import { given, KEYS_WHERE, readId, readKey, readName, readTeam, TEAM_FLAG } from '../operand.ts';
import { labelled } from '../text-table.ts';
import { printChange, valueOf, withAdmin } from '../with-store.ts';

/** If --store is wrong, it has none of the gateway's keys. */
const NOBODYS_KEY = 'no team in this store has this key; check that --store and --config are those of the gateway';

export const keyCreate: Command = {
  usage: '--team TEAM --mode live|test [--label LABEL]',
  about: 'Only a digest of the key is kept. Both modes work alike; the mode is a label in usage reports.',
  flags: {
    team: TEAM_FLAG,
    mode: { kind: 'text', value: 'live|test', summary: 'a label in usage reports', required: true },
    label: { kind: 'text', value: 'LABEL', summary: 'what the key is for', fallback: 'no label' },
    ...LIMIT_FLAGS,
  },
  examples: [
    'lingate key create --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --mode live --label backend',
    'lingate key create --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --mode live --expires-at 2027-01-31T18:00:00Z --allow 203.0.113.0/24',
  ],
  async run(context) {
    const mode = readMode(context.required('mode'));
    const limits = readLimits(context);
    const record = { mode, label: given(context, 'label', readName) ?? '', limits };
    const teamId = readTeam('team', context.required('team'));
    await withAdmin(context, async (admin) => {
      const report = valueOf(await admin.keys.create({ ...record, teamId }));
      const { key_id, key, display, label, team_id } = report;
      const shown = {
        key_id,
        key,
        display,
        ...(label === '' ? {} : { label }),
        mode,
        team_id,
        ...(hasLimits(limits) ? { limits: limitsText(limits) } : {}),
      };
      context.print(report, () => `${labelled(shown)}\n\nKeep the key now: it will not be shown again.`);
    });
  },
};

function readMode(value: string): KeyMode {
  if (value === 'live' || value === 'test') return value;
  throw new UsageError(`--mode ${JSON.stringify(value)} is neither live nor test`);
}

export const keyList: Command = {
  usage: '--team TEAM',
  about: 'Keys themselves are not kept, only their first twelve characters.',
  flags: { team: TEAM_FLAG },
  examples: ['lingate key list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readTeam('team', context.required('team'));
    await withAdmin(context, async (admin) => {
      const keys = valueOf(await admin.keys.list(teamId));
      context.print({ keys: keys.map(keyReport) }, () =>
        keys.length === 0
          ? `This team has no keys yet; create one with "lingate key create --team ${teamId} --mode live".`
          : keyTable(keys, context.io.nowMs(), ['CREATED'], ({ createdAtMs }) => [rfc3339(createdAtMs)]),
      );
    });
  },
};

export const keyFind: Command = {
  usage: '[--display la_live_Ab3d]',
  about:
    'At a terminal you are prompted for the key, and it is not shown. It is never accepted on the command line, which the shell history ' +
    'keeps and other users can read. Several keys may have the same first twelve characters. The exit status is 1 if there is no such key.',
  flags: {
    display: { kind: 'text', value: 'la_live_Ab3d', summary: 'the first twelve characters', fallback: 'a whole key from standard input' },
  },
  examples: ['lingate key find', 'lingate key find < leaked.txt', 'lingate key find --display la_live_Ab3d'],
  async run(context) {
    const search = await searchOf(context);
    await withAdmin(context, async (admin) => {
      const keys = valueOf(await admin.keys.find(search));
      const table = (): string => keyTable(keys, context.io.nowMs(), ['TEAM', 'NAME'], ({ teamId, teamName }) => [teamId, teamName]);
      if (keys.length > 0 || context.json) context.print({ keys: keys.map(foundKeyReport) }, table);
      if (keys.length === 0) throw new CommandFailure(NOBODYS_KEY);
    });
  },
};

async function searchOf(context: CommandContext): Promise<{ readonly key: string } | { readonly display: string }> {
  const display = context.text('display');
  if (display === undefined) return { key: await readKey(context) };
  if (matchesDisplay(display)) return { display };
  throw new UsageError('--display takes the first twelve characters of a key, such as la_live_Ab3d');
}

export const keyUpdate: Command = {
  usage: 'KEY_ID [--label LABEL] [--disable | --enable]',
  about:
    'The change takes effect at the next request, everywhere; what is not given stays as it is. ' +
    '--allow replaces all addresses that were allowed before. A disabled key can be enabled again; a revoked key cannot.',
  operands: ['KEY_ID'],
  flags: {
    ...LIMIT_FLAGS,
    ...NO_LIMIT_FLAGS,
    label: { kind: 'text', value: 'LABEL', summary: 'what the key is for' },
    'no-label': { kind: 'switch', summary: 'remove the label' },
    disable: { kind: 'switch', summary: 'refuse the key until it is enabled again' },
    enable: { kind: 'switch', summary: 'let a disabled key work again' },
  },
  examples: [
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --expires-at 2027-01-31T18:00:00Z --characters 100000',
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --allow 203.0.113.0/24 --allow 2001:db8::/32 --no-characters',
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --limit requests=600/minute --limit characters=1000000/day --no-limit month',
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --disable',
  ],
  async run(context) {
    const change = readChange(context);
    const windows = readWindowChange(context);
    const keyId = readKeyId(context.operands[0]!);
    await withAdmin(context, async (admin) => {
      const result = await (windows === undefined ? admin.keys.update(keyId, change) : admin.keys.updateWindows(keyId, change, windows));
      const key = valueOf(result);
      const report = changedKeyReport(key);
      printChange(context, result, report, `${keyText(report, limitsText(key.limits))}${STATUS_NOTES[key.status]}`);
    });
  },
};

function readChange(context: CommandContext): KeyChange {
  const limits = readLimitChange(context);
  const label = readLabel(context);
  const [disables, enables] = [context.on('disable'), context.on('enable')];
  if (disables && enables) throw new UsageError('--disable and --enable contradict each other; give one of them');
  if (limits === undefined && label === undefined && !disables && !enables && readWindowChange(context) === undefined) {
    throw new UsageError('nothing to change; give --label, a limit, --disable or --enable');
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...(disables || enables ? { disabled: disables } : {}),
    ...(limits === undefined ? {} : { limits }),
  };
}

function readLabel(context: CommandContext): string | undefined {
  const removed = context.on('no-label');
  if (context.on('label') && removed) throw new UsageError('--label and --no-label contradict each other; give one of them');
  return removed ? '' : given(context, 'label', readName);
}

function keyText({ key_id, display, label, mode, status, team_id }: ChangedKeyReport, limits: string): string {
  return labelled({ key_id, display: `${display}…`, label: label === '' ? '-' : label, mode, status, team_id, limits });
}

export const keyRevoke: Command = {
  usage: 'KEY_ID | --stdin | --all --team TEAM [--yes]',
  about:
    'This cannot be undone; revoking all keys of a team asks for its name first. To rotate keys without downtime, create and deploy the new one first, and watch the last use of the old one. ' +
    'For a leaked key, --stdin reads the whole key from standard input; at a terminal you are prompted for it, and it is not shown.',
  operands: ['KEY_ID'],
  insteadOfOperands: ['stdin', 'all'],
  flags: {
    stdin: { kind: 'switch', summary: 'read the whole key from standard input, instead of KEY_ID' },
    all: { kind: 'switch', summary: 'revoke every key of a team, instead of KEY_ID' },
    team: { ...TEAM_FLAG, required: false, summary: 'with --all: the id of the team' },
    yes: { ...YES, summary: 'with --all: do not ask; required without a terminal' },
  },
  examples: [
    'lingate key revoke 01JD3QB5W1T9C4E8S7X2G6V0PA',
    'lingate key revoke --stdin < leaked.txt',
    'lingate key revoke --all --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  ],
  async run(context) {
    if (context.on('all')) return revokeAll(context);
    const stray = ['team', 'yes'].find((flag) => context.on(flag));
    if (stray !== undefined) throw new UsageError(`--${stray} is only used with --all`);
    const [operand] = context.operands;
    const whole = operand === undefined ? await readKey(context) : undefined;
    const named = operand === undefined ? '' : readKeyId(operand);
    await withAdmin(context, async (admin) => {
      const keyId = whole === undefined ? named : await idOf(admin, whole);
      const result = await admin.keys.revoke(keyId);
      const key = valueOf(result);
      printChange(context, result, { key_id: key.keyId, status: key.status }, `Key ${key.keyId} (${key.display}…) is revoked.`);
    });
  },
};

async function revokeAll(context: CommandContext): Promise<void> {
  if (context.on('stdin')) throw new UsageError('--all and --stdin contradict each other; give one of them');
  const teamId = given(context, 'team', readTeam);
  if (teamId === undefined) throw new UsageError('--team TEAM is missing: it says whose keys are revoked');
  requireConfirmable(context, 'revoking all keys of a team');
  await withAdmin(context, async (admin) => {
    const { name } = valueOf(await admin.showTeam(teamId));
    const does = `This revokes every key of the team ${JSON.stringify(name)} permanently.`;
    await confirm(context, { does, word: name, wordIs: "the team's name" });
    const result = await admin.keys.revokeAll(teamId);
    const keys = valueOf(result);
    const many = keys.length === 1 ? '1 key is' : `${keys.length} keys are`;
    const text = keys.length === 0 ? `Every key of team ${teamId} was revoked before.` : `${many} revoked.`;
    printChange(context, result, { team_id: teamId, revoked: keys.map(({ keyId }) => keyId) }, text);
  });
}

function readKeyId(operand: string): string {
  return readId('key', operand, `give its KEY_ID, not the key; ${KEYS_WHERE}`);
}

async function idOf(admin: AdminOperations, key: string): Promise<string> {
  const [found] = valueOf(await admin.keys.find({ key }));
  if (found === undefined) throw new CommandFailure(NOBODYS_KEY);
  return found.keyId;
}
