// What the key's own team has used, over all of its keys: GET /v2/usage, and by tag, in total or by
// day, GET /v2/admin/analytics/custom-tags.
import Type from 'typebox';
import { dateOf, isUnavailable, keyOwnerSlot, readDayRange, refuse, STORE_UNAVAILABLE, UNKNOWN_KEY } from 'lingate';
import type { DayRange, Refusal, TagDay, Usage } from 'lingate';
import { answer, plainOperation } from '../facades/operation.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import { integer, optional, parameter, required, shown } from '../facades/reference.ts';

/** DeepL's value for an account without a limit. */
const UNLIMITED = 1_000_000_000_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export function usage(api: FacadeApi): ApiPart {
  return plainOperation(api, {
    name: 'usage',
    tag: 'Usage',
    scope: 'usage:read',
    at: 'GET /v2/usage',
    summary: 'Read the usage',
    description: "The team's usage in the current period, over all of its keys and routes.",
    answer: shown(
      'Settled counts.',
      {
        character_count: count('Characters charged in the period, without those that test keys use for nothing.'),
        character_limit: count('Included characters per period; with credit, the characters used plus those that the balance still buys.'),
      },
      { character_count: 1200, character_limit: 500000 },
    ),
    async run(x, { teams }) {
      const found = await teams.usage(x.need(keyOwnerSlot).teamId);
      if (found === undefined) return UNKNOWN_KEY;
      if (isUnavailable(found)) return STORE_UNAVAILABLE;
      return answer({ character_count: found.characters - found.allowanceUsed, character_limit: limitOf(found) });
    },
  });
}

function limitOf({ team, characters, allowanceUsed }: Usage): number {
  const { limits, balanceMicro } = team;
  if (limits.billing === 'quota') return limits.characterLimit;
  // Minor units per million characters are millionths of one for each.
  return limits.minorPerMillion === 0 ? UNLIMITED : characters - allowanceUsed + Math.floor(balanceMicro / limits.minorPerMillion);
}

/** Rows of a page. */
const PAGE_ROWS = 1000;

const WRONG_SPAN = refuse('validation_error', "Value for 'aggregate_by' not supported: it is period or day.");
const WRONG_PAGE = refuse('validation_error', "Value for 'page' not supported: it is a number from 1 on.");
const NO_DATES = refuse('validation_error', 'start_date and end_date are required, such as 2026-11-01.');

const REPORT_WORDS = {
  aggregate_by: 'As requested.',
  start_date: 'As requested.',
  end_date: 'As requested.',
  next_page: Type.Union([integer('Its number.'), Type.Null()], { description: 'Null on the last page.' }),
  custom_tag: 'The tag, in lower case.',
  usage_date: optional('Only with `aggregate_by=day`.'),
  total_characters: count('Charged characters.'),
  text_translation_characters: count('The same: texts are all that is translated here.'),
  text_improvement_characters: count('Always 0.'),
};

interface TagQuestion {
  readonly range: DayRange;
  readonly startDate: string;
  readonly endDate: string;
  /** A row for each tag, or for each tag of a day. */
  readonly by: 'period' | 'day';
  readonly page: number;
}

interface TagRow {
  readonly tag: string;
  readonly day?: number;
  readonly characters: number;
}

const EXAMPLE = { range: { from: 0, to: 0 }, startDate: '2026-11-01', endDate: '2026-11-30', by: 'day', page: 1 } as const;
const EXAMPLE_ROW = { tag: 'acme', day: Date.parse('2026-11-22') / 86_400_000, characters: 1200 };

export function customTags(api: FacadeApi): ApiPart {
  return plainOperation(api, {
    name: 'custom-tags',
    tag: 'Usage',
    scope: 'usage:read',
    at: 'GET /v2/admin/analytics/custom-tags',
    summary: 'Read the usage by tag',
    description:
      'What the team has used under each X-DeepL-Reporting-Tag (or Lingate-Tag), over all of its keys. With more tags than are counted, further ones are `*`. Requests without a tag are not listed.',
    query: [
      required('start_date', EXAMPLE.startDate, 'The first UTC day.'),
      required('end_date', EXAMPLE.endDate, 'The last UTC day (inclusive); at most 400 days.'),
      parameter('aggregate_by', 'day', '`period` (the default), one row for each tag, or `day`.'),
      parameter('page', '1', 'The `next_page` of the page before; 1 by default.'),
    ],
    answer: shown('A page of rows.', REPORT_WORDS, reportOf(EXAMPLE, [EXAMPLE_ROW])),
    async run(x, { tags }) {
      const asked = readQuestion(new URLSearchParams(x.head.query));
      if ('problem' in asked) return asked;
      const found = await tags.days(x.need(keyOwnerSlot).teamId, asked.range);
      return isUnavailable(found) ? STORE_UNAVAILABLE : answer(reportOf(asked, asked.by === 'day' ? found : totalsOf(found)));
    },
  });
}

function readQuestion(query: URLSearchParams): TagQuestion | Refusal {
  const [startDate, endDate] = [query.get('start_date'), query.get('end_date')];
  const range = startDate === null || endDate === null ? undefined : readDayRange(startDate, endDate);
  if (range === undefined) return NO_DATES;
  if ('fault' in range) return refuse('validation_error', `${range.field === 'from' ? 'start_date' : 'end_date'}: ${range.fault}.`);
  const by = query.get('aggregate_by') ?? 'period';
  if (by !== 'period' && by !== 'day') return WRONG_SPAN;
  const page = query.get('page') ?? '1';
  return /^[1-9]\d{0,8}$/.test(page) ? { range, startDate: startDate!, endDate: endDate!, by, page: Number(page) } : WRONG_PAGE;
}

function reportOf({ startDate, endDate, by, page }: TagQuestion, rows: readonly TagRow[]) {
  const shownRows = rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS).map(({ tag, day, characters }) => ({
    custom_tag: tag,
    ...(day === undefined ? {} : { usage_date: dateOf(day) }),
    breakdown: { total_characters: characters, text_translation_characters: characters, text_improvement_characters: 0 },
  }));
  const next = rows.length > page * PAGE_ROWS ? page + 1 : null;
  return { custom_tag_usage_report: { aggregate_by: by, start_date: startDate, end_date: endDate, next_page: next, usage: shownRows } };
}

/** In total. */
function totalsOf(days: readonly TagDay[]): readonly TagRow[] {
  const totals = new Map<string, number>();
  for (const { tag, characters } of days) totals.set(tag, (totals.get(tag) ?? 0) + characters);
  return [...totals].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([tag, characters]) => ({ tag, characters }));
}
