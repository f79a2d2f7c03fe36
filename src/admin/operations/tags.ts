// Tags with limits: for all keys of a team together, whichever a request is sent with.
import type { Static } from 'typebox';
import { usedLimitList } from '../../domain/answers.ts';
import { CHARACTERS_MAX, RATE_MAX } from '../../domain/key-limits.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import { usedLimits } from '../../domain/usage-days.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import { tag, teamId, whole, windowEntries, windowList, windowsOf } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, found, noSuch, operation, RefusedError, refused } from '../operation.ts';
import { limitsText } from './key-limits.ts';
import type { AdminOperation, RowColumn, OperationRefusal } from '../operation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

const Tag = Type.Object({
  tag: Type.String({ description: 'In lower case.' }),
  disabled: Type.Boolean(),
  requests_per_second: Type.Optional(whole),
  characters: Type.Optional(whole),
  limits: Type.Optional(windowList),
  used: Type.Object(
    {
      characters: Type.Integer({ minimum: 0, description: "In the team's running period, those of requests in progress included." }),
      limits: Type.Optional(usedLimitList('requests with the tag')),
    },
    { description: 'Counted since the tag has settings.' },
  ),
});
export type LimitedTagRow = Static<typeof Tag>;

/** GivenMembers of the settings could be sent back. */
function rowOf({ tag: name, settings, use }: SetTag): LimitedTagRow {
  return {
    tag: name,
    disabled: settings.disabled,
    requests_per_second: settings.requestsPerSecond,
    characters: settings.characters,
    limits: windowEntries(settings.windows),
    used: { characters: use.characters, ...(use.windows.length === 0 ? {} : usedLimits(use.windows)) },
  };
}

const columns: readonly RowColumn<LimitedTagRow>[] = [
  { head: 'Tag', cell: (row) => row.tag, holds: 'text' },
  { head: 'Status', cell: (row) => ({ kind: 'status', status: row.disabled ? 'disabled' : 'active' }) },
  { head: 'Limits', cell: limitsText, holds: 'text' },
  { head: 'Used', cell: ({ used }) => usedText(used) },
];

/** `1200 characters in the period, 3 of 600 requests this minute`. */
function usedText({ characters, limits = [] }: LimitedTagRow['used']): string {
  const windows = limits.flatMap((one) => [
    ...(one.requests === undefined ? [] : [`${one.used_requests} of ${one.requests} requests this ${one.per}`]),
    ...(one.characters === undefined ? [] : [`${one.used_characters} of ${one.characters} characters this ${one.per}`]),
  ]);
  return [`${characters} characters in the period`, ...windows].join(', ');
}

function noTag(team: string, name: string): OperationRefusal {
  const words = `no limits are set for the tag ${JSON.stringify(name)} of team ${team}`;
  return { kind: 'refused', code: 'not_found', words, named: `${words}; "lingate tag list TEAM" shows those that have some` };
}

/** What the registry has of the tag; otherwise the tag is missing, or its team. */
async function foundTag<T>({ options }: OperationContext, answer: T | undefined | StoreUnavailable, team: string, name: string) {
  const value = answered(answer);
  if (value !== undefined) return value;
  found(await options.teams.findTeam(team), 'team', team);
  throw new RefusedError(noTag(team, name));
}

export const listTags = operation({
  id: 'listTags',
  command: 'tag list',
  http: 'GET /teams/{id}/tags',
  summary: "Lists a team's tags that have limits or are disabled, and what they have used.",
  about: '"lingate usage export --tags" shows what every tag has used, by day.',
  examples: [`lingate tag list ${TEAM}`],
  input: { id: teamId },
  row: Tag,
  list: 'tags',
  columns,
  none: 'This team has no tags with limits.',
  async run(context, { id }) {
    return found(await context.part('tags').registry.list(id), 'team', id).map(rowOf);
  },
});

/** Its limits, if it has some. */
export async function limitedTag(context: OperationContext, id: string, name: string): Promise<LimitedTagRow | undefined> {
  const set = answered(await context.part('tags').registry.find(id, name));
  return set && rowOf(set);
}

export const showTag = operation({
  id: 'showTag',
  http: 'GET /teams/{id}/tags/{tag}',
  summary: 'Shows the limits of a tag, and what it has used.',
  input: { id: teamId, tag },
  row: Tag,
  columns,
  async run(context, { id, tag: name }) {
    return rowOf(await foundTag(context, await context.part('tags').registry.find(id, name), id, name));
  },
});

export function limitsOf({ requests_per_second, characters, limits }: Partial<LimitedTagRow>) {
  return { requests_per_second, characters, limits };
}

export const setTag: AdminOperation = operation({
  id: 'setTag',
  past: 'tag limits set',
  command: 'tag set',
  http: 'PUT /teams/{id}/tags/{tag}',
  summary: 'Sets the limits of a tag, for all keys together, or disables it; effective at its next request. Replaces what was set before.',
  about:
    'The limits are for all keys of the team together, within their own. A disabled tag works again when it is set without --disable, ' +
    'or deleted.',
  examples: [
    `lingate tag set ${TEAM} acme --characters 100000 --requests-per-second 5`,
    `lingate tag set ${TEAM} acme --limit requests=600/minute --limit characters=1000000/day`,
    `lingate tag set ${TEAM} acme --disable`,
  ],
  input: {
    id: teamId,
    tag,
    disabled: Type.Boolean({
      description: 'Whether requests with the tag are refused. `false` by default.',
      given: { flag: 'disable', flagWords: ['refuse requests with the tag'] },
    }),
    requests_per_second: Type.Integer({
      minimum: 1,
      maximum: RATE_MAX,
      description: "The rate of all requests with the tag, whichever key they are sent with, within the team's and the key's.",
    }),
    characters: Type.Integer({
      minimum: 1,
      maximum: CHARACTERS_MAX,
      description: "How many characters requests with the tag may use in each of the team's periods.",
      given: { label: 'Characters per period' },
    }),
    limits: windowList,
  },
  clears: ['requests_per_second', 'characters', 'limits'],
  judge({ id: _id, tag: _tag, ...given }) {
    return Object.keys(given).length === 0
      ? refused('body', 'there is nothing to set; give a limit or {disabled}, or remove all that is set')
      : undefined;
  },
  row: Tag,
  columns,
  notice: ({ tag: name, disabled }) => `Tag ${name} is ${disabled ? 'disabled: requests with it are refused' : 'saved'}.`,
  // They leave the limits as they are.
  buttons: [
    {
      name: 'disable',
      title: 'Disable',
      submit: 'Disable the tag',
      danger: true,
      about: 'Requests with this tag are refused, everywhere. It can be enabled again.',
      when: ({ disabled }) => !disabled,
      given: (row) => ({ ...limitsOf(row), disabled: true }),
    },
    {
      name: 'enable',
      title: 'Enable',
      submit: 'Enable the tag',
      about: 'Its requests are answered again, within its limits.',
      when: ({ disabled }) => disabled,
      given: (row) => ({ ...limitsOf(row), disabled: false }),
      notice: ({ tag: name }) => `Tag ${name} is enabled.`,
    },
  ],
  async run(context, { id, tag: name, disabled = false, ...limits }) {
    const { registry, most } = context.part('tags');
    const settings = {
      disabled,
      ...(limits.requests_per_second && { requestsPerSecond: limits.requests_per_second }),
      ...(limits.characters && { characters: limits.characters }),
      ...(limits.limits && { windows: windowsOf(limits.limits) }),
    };
    const changed = answered(await context.changing(registry.set(id, name, settings, most(), context.by(setTag))));
    if (changed.kind === 'team_unknown') throw new RefusedError(noSuch('team', id));
    if (changed.kind === 'limit_reached') {
      const reached = `limits.tags allows limits for ${changed.most} tags of a team, and as many others have some`;
      throw new RefusedError(refused('tag', `${reached}; remove those of another tag, or raise it`));
    }
    return done(rowOf(changed.tag), await context.replicated([id]));
  },
});

export const deleteTag: AdminOperation = operation({
  id: 'deleteTag',
  past: 'tag limits removed',
  command: 'tag delete',
  http: 'DELETE /teams/{id}/tags/{tag}',
  summary: 'Removes the limits of a tag. What was charged with it stays in the usage.',
  about: 'Its next request has no limits but those of the team and the key.',
  examples: [`lingate tag delete ${TEAM} acme`],
  input: { id: teamId, tag },
  status: 204,
  row: Type.Object({ tag: Type.String(), team_id: Type.String(), status: Type.Enum(['deleted']) }),
  notice: ({ tag: name, team_id: team }) => `The tag ${name} of team ${team} has no limits any more.`,
  async run(context, { id, tag: name }) {
    const removed = await context.changing(context.part('tags').registry.remove(id, name, context.by(deleteTag)));
    await foundTag(context, removed || undefined, id, name);
    return done({ tag: name, team_id: id, status: 'deleted' }, await context.replicated([id]));
  },
});

export const operations = [setTag, listTags, showTag, deleteTag];
