// GET /v2/admin/analytics/custom-tags: what the key's own team has used by tag, in total or by day.
import Type from 'typebox';
import { dateOf, isUnavailable, keyOwnerSlot, readDayRange, refuse, STORE_UNAVAILABLE } from 'lingate';
import type { DayRange, Outcome, Refusal, TagDay } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi } from '../facades/facade-operation.ts';
import { answered, integer, parameter, required, string } from '../facades/reference.ts';

/** Rows of a page. */
const PAGE_ROWS = 1000;

const WRONG_SPAN = refuse('validation_error', "Value for 'aggregate_by' not supported: it is period or day.");
const WRONG_PAGE = refuse('validation_error', "Value for 'page' not supported: it is a number from 1 on.");
const NO_DATES = refuse('validation_error', 'start_date and end_date are required, such as 2026-11-01.');

const count = (description: string) => Type.Integer({ minimum: 0, description });

interface TagQuestion {
  readonly range: DayRange;
  readonly startDate: string;
  readonly endDate: string;
  readonly byDay: boolean;
  readonly page: number;
}

export function customTags(api: FacadeApi): ApiPart {
  return plainOperation(api, {
    name: 'custom-tags',
    tag: 'Usage',
    scope: 'usage:read',
    at: [
      {
        method: 'GET',
        path: '/v2/admin/analytics/custom-tags',
        summary: 'Read the usage by tag',
        description:
          'What the team has used under each X-DeepL-Reporting-Tag (or Lingate-Tag), over all of its keys. With more tags than are counted, further ones are `*`. Requests without a tag are not listed.',
      },
    ],
    parameters: [],
    query: [
      required('start_date', '2026-11-01', 'The first UTC day.'),
      required('end_date', '2026-11-30', 'The last UTC day (inclusive); at most 400 days.'),
      parameter('aggregate_by', 'day', '`period` (the default), one row for each tag, or `day`.'),
      parameter('page', '1', 'The `next_page` of the page before; 1 by default.'),
    ],
    answer: answered(
      'A page of rows.',
      Type.Object({
        custom_tag_usage_report: Type.Object({
          aggregate_by: string('As requested.'),
          start_date: string('As requested.'),
          end_date: string('As requested.'),
          next_page: Type.Union([integer('Its number.'), Type.Null()], { description: 'Null on the last page.' }),
          usage: Type.Array(
            Type.Object({
              custom_tag: string('The tag, in lower case.'),
              usage_date: Type.Optional(string('Only with `aggregate_by=day`.')),
              breakdown: Type.Object({
                total_characters: count('Charged characters.'),
                text_translation_characters: count('The same: texts are all that is translated here.'),
                text_improvement_characters: count('Always 0.'),
              }),
            }),
          ),
        }),
      }),
      {
        custom_tag_usage_report: {
          aggregate_by: 'day',
          start_date: '2026-11-01',
          end_date: '2026-11-30',
          next_page: null,
          usage: [
            {
              custom_tag: 'acme',
              usage_date: '2026-11-22',
              breakdown: { total_characters: 1200, text_translation_characters: 1200, text_improvement_characters: 0 },
            },
          ],
        },
      },
    ),
    async run(x, { tags }): Promise<Outcome> {
      const question = readQuestion(new URLSearchParams(x.head.query));
      if ('problem' in question) return question;
      const found = await tags.days(x.need(keyOwnerSlot).teamId, question.range);
      return isUnavailable(found) ? STORE_UNAVAILABLE : answer(reportOf(question, found));
    },
  });
}

function readQuestion(query: URLSearchParams): TagQuestion | Refusal {
  const [startDate, endDate] = [query.get('start_date'), query.get('end_date')];
  if (startDate === null || endDate === null) return NO_DATES;
  const range = readDayRange(startDate, endDate);
  if (range === undefined) return NO_DATES;
  if ('fault' in range) return refuse('validation_error', `${range.field === 'from' ? 'start_date' : 'end_date'}: ${range.fault}.`);
  const by = query.get('aggregate_by') ?? 'period';
  if (by !== 'period' && by !== 'day') return WRONG_SPAN;
  const page = query.get('page') ?? '1';
  if (!/^[1-9]\d{0,8}$/.test(page)) return WRONG_PAGE;
  return { range, startDate, endDate, byDay: by === 'day', page: Number(page) };
}

function reportOf({ startDate, endDate, byDay, page }: TagQuestion, days: readonly TagDay[]) {
  const rows = byDay ? days.map(({ tag, day, characters }) => ({ tag, day, characters })) : totalsOf(days);
  const shown = rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
  const usage = shown.map(({ tag, day, characters }) => ({
    custom_tag: tag,
    ...(day === undefined ? {} : { usage_date: dateOf(day) }),
    breakdown: { total_characters: characters, text_translation_characters: characters, text_improvement_characters: 0 },
  }));
  return {
    custom_tag_usage_report: {
      aggregate_by: byDay ? 'day' : 'period',
      start_date: startDate,
      end_date: endDate,
      next_page: rows.length > page * PAGE_ROWS ? page + 1 : null,
      usage,
    },
  };
}

function totalsOf(days: readonly TagDay[]): { readonly tag: string; readonly day: undefined; readonly characters: number }[] {
  const totals = new Map<string, number>();
  for (const { tag, characters } of days) totals.set(tag, (totals.get(tag) ?? 0) + characters);
  return [...totals].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([tag, characters]) => ({ tag, day: undefined, characters }));
}
