// The keys of teams: creating, changing, revoking and finding them.
import { digestOf, displayOf, matchesDisplay, matchesKeyPattern, newKey } from '../../domain/api-key.ts';
import { changedWindows, NO_WINDOWS, WINDOWS } from '../../domain/window-limits.ts';
import { changedLimits, EXPIRES_AT_MAX } from '../../domain/key-limits.ts';
import type { KeyLimitChange } from '../../domain/key-limits.ts';
import { parseRfc3339, rfc3339 } from '../../domain/period.ts';
import { judgeRecordName, RECORD_NAME_CHARACTERS_MAX } from '../../domain/record-name.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import type { KeyChange, KeyRecord } from '../../ports/team-registry.ts';
import { choice, keyId, recordText, teamFlag, windowListAs } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, found, operation, refused } from '../operation.ts';
import type { AdminOperation, Done, OperationRefusal } from '../operation.ts';
import { LIMIT_NAMES, limitChange, LimitsGiven, limitsReport } from './key-limits.ts';
import { ChangedKey, Found, foundRow, Key, keyColumns, keyFacts, keyReport, New } from './key-rows.ts';
import type { ChangedKeyRow, FoundKeyRow, ListedKeyRow } from './key-rows.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const KEY = '01JD3QB5W1T9C4E8S7X2G6V0PA';

/** What operators set of a key. */
const Terms = {
  label: recordText(judgeRecordName, RECORD_NAME_CHARACTERS_MAX, 'What the key is for.', {
    value: 'LABEL',
    removes: 'no-label',
    blank: true,
  }),
  ...LimitsGiven,
};
const disabled = 'Whether the key is refused until it is enabled again.';
const flagWords = ['refuse the key until it is enabled again', 'accept the key again'];
/** The fields of a key's form, in their order. */
export const KEY_FIELDS = ['label', ...LIMIT_NAMES] as const;

function judgeExpiry(at: unknown, nowMs: number): OperationRefusal | undefined {
  const atMs = typeof at === 'string' ? parseRfc3339(at)! : undefined;
  if (atMs === undefined) return undefined;
  if (atMs <= nowMs) return refused('expires_at', `is in the past: it is ${rfc3339(Math.floor(nowMs / 1000) * 1000)} now`);
  return atMs > EXPIRES_AT_MAX ? refused('expires_at', `is later than ${rfc3339(EXPIRES_AT_MAX)}`) : undefined;
}

export const listKeys = operation({
  id: 'listKeys',
  command: 'key list',
  http: 'GET /teams/{id}/keys',
  summary: "Lists a team's keys, and when each was last used.",
  about: 'Keys themselves are not stored, only their first twelve characters.',
  examples: [`lingate key list --team ${TEAM}`],
  input: { id: teamFlag },
  row: Key,
  list: 'keys',
  columns: keyColumns([{ head: 'Created', cell: (row: ListedKeyRow) => row.created_at }]),
  none: 'This team has no keys yet; create one with "lingate key create".',
  async run({ options: { teams } }, { id }) {
    return found(await teams.listKeys(id), 'team', id).map(keyReport);
  },
});

export const createKey: AdminOperation = operation({
  id: 'createKey',
  past: 'key created',
  command: 'key create',
  http: 'POST /teams/{id}/keys',
  summary: 'Creates a key and shows it once.',
  about:
    'Only a digest of the key is stored. Keys of both modes translate alike and cost the same, unless the plan has free characters for test keys.',
  examples: [
    `lingate key create --team ${TEAM} --mode live --label backend`,
    `lingate key create --team ${TEAM} --mode live --expires-at 2027-01-31T18:00:00Z --allow 203.0.113.0/24`,
  ],
  input: {
    id: teamFlag,
    mode: choice(['live', 'test'], '`test` keys cost what `live` keys cost, unless the plan has free characters for them.'),
    ...Terms,
    disabled: Type.Boolean({ description: disabled, given: { only: 'programs' } }),
  },
  required: ['mode'],
  clears: LIMIT_NAMES,
  judge: ({ expires_at: at }, nowMs) => judgeExpiry(at, nowMs),
  status: 201,
  row: New,
  shownOnce: 'key',
  facts: keyFacts,
  notice: () => 'Store the key now: it will not be shown again.',
  async run(context, { id: team, mode: ofMode, label = '', disabled: isDisabled = false, ...given }, { id }) {
    const key = newKey(ofMode);
    const newId = await idOfKey(context, id, team);
    const record = { keyId: newId, teamId: team, digest: digestOf(key), display: displayOf(key), label: label.trim(), mode: ofMode };
    const limits = changedLimits({}, limitChange(given));
    const made = found(await context.options.teams.createKey({ ...record, limits }, context.by(createKey)), 'team', team);
    const { display, label: labelled } = made;
    const row = { key_id: newId, key, display, label: labelled, mode: ofMode, team_id: team, ...limitsReport(made.limits) };
    if (!isDisabled) return done(row, undefined, { key_id: newId });
    // The key is only returned now: nobody could have used it before.
    return { ...(await changeKey(context, newId, { disabled: true })), value: row };
  },
});

/** Nobody has seen the key of an earlier attempt with this id: it is revoked. */
async function idOfKey(context: OperationContext, id: string | undefined, team: string): Promise<string> {
  const { teams, newId } = context.options;
  if (id === undefined) return newId();
  if (answered(await teams.listKeys(team))?.some((key) => key.keyId === id) !== true) return id;
  answered(await context.changing(teams.revokeKey(id, context.by(revokeKey))));
  return newId();
}

async function changeKey(context: OperationContext, id: string, change: KeyChange): Promise<Done<ChangedKeyRow>> {
  const key = found(await context.changing(context.options.teams.updateKey(id, change, context.by(updateKey))), 'key', id);
  // What restricts a key must survive a failover; a changed label or an enabled key need not.
  const weighty = change.disabled === true || change.limits !== undefined;
  const replicated = weighty ? await context.replicated([key.teamId]) : undefined;
  return done({ team_id: key.teamId, ...keyReport(key) }, replicated, { team_id: key.teamId, key_id: id });
}

/** What helps a key of a form. */
export const EXPIRED = 'It has expired: give it a later expiry, and it works again.';

const NOTES = {
  active: '',
  revoked: ' It is revoked, which is permanent: create another one.',
  disabled: ' It is disabled: its requests are refused until it is enabled again.',
  expired: ' It has expired: give it a later --expires-at, or --no-expires-at.',
} as const;

export const updateKey: AdminOperation = operation({
  id: 'updateKey',
  past: 'key changed',
  command: 'key update',
  http: 'PATCH /keys/{id}',
  summary: "Changes a key's label or limits, disables it or enables it again; effective at its next request.",
  about:
    'Whatever you leave out stays as it is; --limit and --no-limit change only the limits that they name. ' +
    '--allow replaces all addresses that were allowed before. A disabled key can be enabled again; a revoked key cannot.',
  examples: [
    `lingate key update ${KEY} --expires-at 2027-01-31T18:00:00Z --characters 100000`,
    `lingate key update ${KEY} --allow 203.0.113.0/24 --allow 2001:db8::/32 --no-characters`,
    `lingate key update ${KEY} --limit requests=600/minute --limit characters=1000000/day --no-limit month`,
    `lingate key update ${KEY} --disable`,
  ],
  input: {
    id: keyId,
    ...Terms,
    limits: windowListAs({ only: 'programs' }),
    limit: windowListAs({ only: 'command' }),
    no_limit: Type.Array(choice(WINDOWS, ''), {
      description: 'Removes what --limit has set for a minute, hour, day, week or month.',
      given: { value: 'TIME', only: 'command' },
    }),
    disabled: Type.Boolean({ description: disabled, given: { flag: 'disable', flagOff: 'enable', flagWords } }),
  },
  clears: LIMIT_NAMES,
  judge({ id: _id, ...given }, nowMs) {
    if (Object.keys(given).length === 0) return refused('body', 'nothing to change; give {label}, a limit or {disabled}');
    const both = given.no_limit?.find((per) => given.limit?.some((one) => one.per === per));
    if (both !== undefined) return refused('no_limit', `${both} and {limit} …/${both} contradict each other; give one of them`);
    return judgeExpiry(given.expires_at, nowMs);
  },
  row: ChangedKey,
  facts: keyFacts,
  notice: ({ key_id: id, status }) => `Key ${id} is changed.${NOTES[status]}`,
  buttons: [
    {
      name: 'disable',
      title: 'Disable',
      submit: 'Disable the key',
      danger: true,
      about: 'Its next request is refused, everywhere. It can be enabled again.',
      when: ({ status }) => status !== 'disabled',
      given: () => ({ disabled: true }),
      notice: ({ display }) => `Key ${display} is disabled: its next request is refused.`,
    },
    {
      name: 'enable',
      title: 'Enable',
      submit: 'Enable the key',
      about: 'It works again at its next request, within its limits.',
      when: ({ status }) => status === 'disabled',
      given: () => ({ disabled: false }),
      notice: ({ display, status }) => `Key ${display} is enabled.${status === 'expired' ? ` ${EXPIRED}` : ''}`,
    },
  ],
  async run(context, { id, label, disabled: isDisabled, limit, no_limit: removed = [], ...given }) {
    const limits: { -readonly [Name in keyof KeyLimitChange]: KeyLimitChange[Name] } = limitChange(given);
    if (limit !== undefined || removed.length > 0) {
      // The change before last of two at once may be lost.
      const before = found(await context.options.teams.updateKey(id, {}), 'key', id);
      limits.windows = changedWindows(before.limits.windows ?? NO_WINDOWS, { set: limit ?? [], removed });
    }
    const isLimited = Object.keys(limits).length > 0;
    return changeKey(context, id, { label: label?.trim(), disabled: isDisabled, limits: isLimited ? limits : undefined });
  },
});

export const revokeKey: AdminOperation = operation({
  id: 'revokeKey',
  past: 'key revoked',
  http: 'POST /keys/{id}/revoke',
  summary: 'Revokes a key: its next request is refused.',
  input: { id: keyId },
  row: Type.Object({ key_id: Type.String(), status: Type.Enum(['revoked'], { type: 'string' }) }),
  async run(context, { id }) {
    return { ...(await revokedKey(context, id)), value: { key_id: id, status: 'revoked' } };
  },
});

export async function revokedKey(context: OperationContext, id: string): Promise<Done<KeyRecord>> {
  const key = found(await context.changing(context.options.teams.revokeKey(id, context.by(revokeKey))), 'key', id);
  return done(key, await context.replicated([key.teamId]), { team_id: key.teamId, key_id: id });
}

/** Every key of a team. After an interruption, a second run revokes the rest. */
export async function revokeAll(context: OperationContext, teamId: string): Promise<Done<readonly string[]>> {
  const { teams } = context.options;
  const keys = found(await teams.listKeys(teamId), 'team', teamId);
  const revoked: string[] = [];
  const revoke = async (): Promise<void> => {
    for (const { keyId: id } of keys.filter(({ status }) => status !== 'revoked')) {
      if (answered(await teams.revokeKey(id, context.by(revokeKey))) !== undefined) revoked.push(id);
    }
  };
  await context.changing(revoke());
  return done(revoked, revoked.length === 0 ? undefined : await context.replicated([teamId]));
}

export const findKeys = operation({
  id: 'findKeys',
  command: 'key find',
  http: 'POST /keys/find',
  summary: 'Finds a key by all of it or by its first twelve characters. The list is empty if no team has such a key.',
  about:
    'At a terminal you are prompted for the key, and it is not shown. It is never accepted on the command line, which the shell history ' +
    'stores and other users can read. Several keys may have the same first twelve characters. The exit status is 1 if there is no such key.',
  examples: ['lingate key find', 'lingate key find < leaked.txt', 'lingate key find --display la_live_Ab3d'],
  looksOnly: true,
  input: {
    key: Type.String({
      description: 'A whole key: only its first twelve characters are stored, logged or answered.',
      given: { secret: true },
    }),
    display: Type.String({
      description: 'The first twelve characters of a key; several keys may have the same ones.',
      given: { value: 'la_live_Ab3d', fallback: 'a whole key from standard input' },
    }),
  },
  /** Never repeats what was sent. */
  judge({ key, display }) {
    if ((key === undefined) === (display === undefined)) return refused('body', 'must have exactly one of {key} and {display}');
    if (key !== undefined && !matchesKeyPattern(key))
      return refused('key', 'must be a whole key, la_live_ or la_test_ and 40 letters and digits; for its first characters use {display}');
    return display === undefined || matchesDisplay(display)
      ? undefined
      : refused('display', 'must be the first twelve characters of a key, for example la_live_Ab3d');
  },
  row: Found,
  list: 'keys',
  // If --store is wrong, it has none of the gateway's keys.
  noneFails: 'no team in this store has this key; check that --store and --config are those of the gateway',
  columns: keyColumns([
    { head: 'Team', cell: (row: FoundKeyRow) => row.team_id, only: 'command' },
    { head: 'Name', cell: (row: FoundKeyRow) => row.team_name, only: 'command' },
    { head: 'Team', cell: (row: FoundKeyRow) => ({ kind: 'team', id: row.team_id, name: row.team_name }), holds: 'text', only: 'console' },
  ]),
  run: foundKeys,
});

/** By either of the two. */
export async function foundKeys(
  { options: { teams } }: OperationContext,
  { key, display = '' }: { readonly key?: string; readonly display?: string },
): Promise<readonly FoundKeyRow[]> {
  return answered(await teams.findKeys(key === undefined ? { display } : { digest: digestOf(key) })).map(foundRow);
}

export const operations = [createKey, listKeys, updateKey, revokeKey, findKeys];
