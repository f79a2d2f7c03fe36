// lingate tag set, list and delete: limits of tags, for all keys of a team together.
import { tagReport } from '../../admin/tag-operations.ts';
import type { TagReport } from '../../admin/tag-operations.ts';
import { judgeTagSettings } from '../../domain/tag-settings.ts';
import type { TagLimitName, TagSettings } from '../../domain/tag-settings.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import { UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { givenWindows, LIMIT_FLAGS, limitsText, wholeOf } from '../key-flags.ts';
import { readTagOperand, teamOperand } from '../operand.ts';
import { labelled, textTable } from '../text-table.ts';
import { printChange, valueOf, withAdmin } from '../with-store.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

const FLAGS: Readonly<Record<TagLimitName, string>> = {
  requests_per_second: 'requests-per-second',
  characters: 'characters',
  limits: 'limit',
};

export const tagSet: Command = {
  usage: 'TEAM TAG [--characters N] [--requests-per-second N] [--limit LIMIT]… [--disable]',
  about:
    'The limits are for all keys of the team together, within their own. They replace everything that was set for the tag before, ' +
    'and take effect at its next request, at every gateway. A disabled tag works again when it is set without --disable, or deleted.',
  operands: ['TEAM', 'TAG'],
  flags: {
    characters: { kind: 'text', value: 'N', summary: "how many characters it may use in each of the team's periods" },
    'requests-per-second': { kind: 'text', value: 'N', summary: "its own rate, within the team's" },
    limit: LIMIT_FLAGS['limit']!,
    disable: { kind: 'switch', summary: 'refuse requests with the tag' },
  },
  examples: [
    `lingate tag set ${TEAM} acme --characters 100000 --requests-per-second 5`,
    `lingate tag set ${TEAM} acme --limit requests=600/minute --limit characters=1000000/day`,
    `lingate tag set ${TEAM} acme --disable`,
  ],
  async run(context) {
    const settings = readSettings(context);
    const [teamId, tag] = operandsOf(context);
    await withAdmin(context, async (admin) => {
      const result = await admin.tags.set(teamId, tag, settings);
      const set = valueOf(result);
      printChange(context, result, tagReport(set), tagText(teamId, set));
    });
  },
};

function operandsOf(context: CommandContext): [string, string] {
  return [teamOperand(context), readTagOperand(context.operands[1]!)];
}

/** Throws a `UsageError` that names the flag and what would be right. */
function readSettings(context: CommandContext): TagSettings {
  const judged = judgeTagSettings({
    disabled: context.on('disable'),
    requests_per_second: wholeOf(context.text('requests-per-second')),
    characters: wholeOf(context.text('characters')),
    limits: givenWindows(context),
  });
  if ('fault' in judged) {
    const { name, at, fault } = judged;
    const flag = name === 'disabled' ? 'disable' : FLAGS[name];
    const given = name === 'limits' ? context.texts(flag)! : [context.text(flag)!];
    // A fault of a whole list is about none of its values.
    const value = at === undefined && given.length > 1 ? '' : ` ${JSON.stringify(given[at ?? 0])}`;
    throw new UsageError(`--${flag}${value} ${fault}`);
  }
  const isNothing = Object.values(judged.settings).every((value) => value === false);
  if (isNothing) throw new UsageError('nothing to set; give a limit or --disable, or remove all that is set with "lingate tag delete"');
  return judged.settings;
}

function tagText(teamId: string, set: SetTag): string {
  const { tag, disabled } = tagReport(set);
  return labelled({ tag, team_id: teamId, status: statusOf(disabled), limits: limitsText(set.settings), used: usedText(set) });
}

function statusOf(disabled: boolean): string {
  return disabled ? 'disabled' : 'active';
}

/** `1200 characters in the period, 3 of 600 requests this minute`. */
function usedText(set: SetTag): string {
  const { used } = tagReport(set);
  const windows = (used.limits ?? []).flatMap(windowTexts);
  return [`${used.characters} characters in the period`, ...windows].join(', ');
}

function windowTexts({
  per,
  requests,
  used_requests: usedRequests,
  characters,
  used_characters: usedCharacters,
}: NonNullable<TagReport['used']['limits']>[number]): string[] {
  return [
    ...(requests === undefined ? [] : [`${usedRequests} of ${requests} requests this ${per}`]),
    ...(characters === undefined ? [] : [`${usedCharacters} of ${characters} characters this ${per}`]),
  ];
}

export const tagList: Command = {
  usage: 'TEAM',
  about: 'What every tag has used, by day: lingate usage export --tags.',
  operands: ['TEAM'],
  examples: [`lingate tag list ${TEAM}`],
  async run(context) {
    const teamId = teamOperand(context);
    await withAdmin(context, async (admin) => {
      const tags = valueOf(await admin.tags.list(teamId));
      context.print({ tags: tags.map(tagReport) }, () => tagTable(tags));
    });
  },
};

function tagTable(tags: readonly SetTag[]): string {
  if (tags.length === 0) return 'This team has no tags with limits.';
  const rows = tags.map((set) => [set.tag, statusOf(set.settings.disabled), limitsText(set.settings), usedText(set)]);
  return textTable(['TAG', 'STATUS', 'LIMITS', 'USED'], rows);
}

export const tagDelete: Command = {
  usage: 'TEAM TAG',
  about: 'Its next request has no limits but those of the team and the key. What was charged with it stays in the usage.',
  operands: ['TEAM', 'TAG'],
  examples: [`lingate tag delete ${TEAM} acme`],
  async run(context) {
    const [teamId, tag] = operandsOf(context);
    await withAdmin(context, async (admin) => {
      const result = await admin.tags.remove(teamId, tag);
      valueOf(result);
      printChange(context, result, { tag, team_id: teamId, status: 'deleted' }, `The tag ${tag} of team ${teamId} has no limits any more.`);
    });
  },
};
