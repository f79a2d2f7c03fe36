// Lists of the console from operations: filters, tables of rows with names, further pages, files.
import { checked, detailOf, fieldsOf, labelOf, valueOf } from '../admin/input.ts';
import type { InputField, GivenMembers } from '../admin/input.ts';
import { PAGE_DEFAULT, pageAt } from '../admin/listing.ts';
import type { ShownPage } from '../admin/listing.ts';
import { downloadOf } from '../admin/csv.ts';
import { RefusedError } from '../admin/operation.ts';
import type { AdminOperation, OperationRefusal } from '../admin/operation.ts';
import { forPrograms } from '../admin/operation-http.ts';
import { matchingTeam } from '../admin/operations/team-search.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from './console-route.ts';
import type { ConsoleRoute, SignedInVisit } from './console-route.ts';
import { queryOf, searchForm } from './form.ts';
import type { Field } from './form.ts';
import { checkedNote, pager, namesOf, tableOf, teamLink } from './cells.ts';
import { titleOf } from './layout.ts';
import type { Section } from './layout.ts';
import { choicesOf } from './operation-form.ts';

/** What is wrong with a question. */
export async function orRefusal<T>(work: () => Promise<T>): Promise<T | OperationRefusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === 'validation_error') return error.refusal;
    throw error;
  }
}

export interface ReadRows<Row> extends ShownPage {
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
}

interface Reading {
  readonly limit?: number;
  /** Of a wrong cursor: a truncated link still opens a page. */
  readonly orFirst?: true;
}

/** A question's page at the query's cursor. */
export async function pageOfQuery<Row>(
  one: AdminOperation,
  { request: { query }, nowMs, context }: SignedInVisit,
  given: GivenMembers,
  { limit = PAGE_DEFAULT, orFirst }: Reading = {},
): Promise<ReadRows<Row>> {
  const input = checked(one, given, nowMs);
  const cursor = query.get('cursor') || undefined;
  const at = (place: string | undefined) => pageAt(one, context, input, place, limit);
  const found = orFirst ? await orRefusal(() => at(cursor)) : await at(cursor);
  const isFirst = cursor === undefined || 'words' in found;
  const page = 'words' in found ? await at(undefined) : found;
  return { ...page, rows: page.rows as readonly Row[], isFirst };
}

/** Links to the first page and to the next one; `to` is the address of the page at a cursor. */
export function pagesOf(
  { next, isFirst }: ReadRows<unknown>,
  to: (cursor?: string) => string,
  words: Parameters<typeof pager>[2] = FORWARD,
) {
  return isFirst && next === undefined ? undefined : pager(isFirst ? undefined : to(), next && to(next), words);
}

const FORWARD = ['First page', 'Next page'] as const;

interface ListPage {
  readonly one: AdminOperation;
  /** Also its path below `/console`. */
  readonly section: Section;
  readonly intro?: string;
  /** What is listed, in plural, if that is not the title. */
  readonly of?: string;
  readonly pageSize?: number;
}

/** A page with filters, a table of rows, and links to further pages. */
export function listPage({ one, section, intro, of = titleOf(section), pageSize }: ListPage): ConsoleRoute {
  const [path, title] = [`/${section}`, titleOf(section)];
  const fields = [...fieldsOf(forPrograms(one))];
  return get(path, async (visit) => {
    const sent = Object.fromEntries(fields.map(([name]) => [name, (visit.request.query.get(name) ?? '').trim()]));
    const found = await orRefusal(async () => {
      const asked = await askedIn(fields, sent, visit);
      return { asked, ...(await pageOfQuery(one, visit, asked, { limit: pageSize })) };
    });
    const fault = 'words' in found ? detailOf(found) : undefined;
    const form = searchForm({
      action: path,
      fields: fields.map(([name, member]) => searchField(name, member)),
      texts: sent,
      submit: 'Search',
      fault,
      isFiltered: Object.values(sent).some((text) => text !== ''),
    });
    const main = html`<h1>${title}</h1>
      ${intro && html`<p class="soft">${intro}</p>`} ${form} ${'words' in found ? undefined : await rowsOf(found, sent, visit)}`;
    return pageAnswer({ title, section, main }, 'words' in found ? { [found.field ?? 'query']: fault! } : {});
  });

  async function rowsOf(
    found: ReadRows<unknown> & { readonly asked: GivenMembers },
    sent: Readonly<Record<string, string>>,
    visit: SignedInVisit,
  ): Promise<Html> {
    const teamId = found.asked['team'] as string | undefined;
    const isNewestFirst = one.listing?.newestFirst === true;
    const caption = isNewestFirst ? `${of}, newest first` : of;
    const to = (cursor?: string): string => `${CONSOLE_PREFIX}${path}${queryOf({ ...sent, cursor })}`;
    return html`${teamId && html`<p>${of} of team ${teamLink(await namesOf(visit.context, [teamId]), teamId)}.</p>`}
    ${await tableOf(one, found.rows, visit, { caption, hidden: teamId === undefined ? [] : ['Team'] })}
    ${checkedNote(found.checkedMax, of.toLowerCase())} ${pagesOf(found, to, isNewestFirst ? ['Newest', 'Older'] : FORWARD)}`;
  }
}

/** The question in a form's fields, where a team may be named by another word than its id. */
async function askedIn(
  fields: readonly (readonly [string, InputField])[],
  sent: Readonly<Record<string, string>>,
  { nowMs, context }: SignedInVisit,
): Promise<GivenMembers> {
  const asked: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const text = sent[name]!;
    if (text !== '') asked[name] = field.given?.matching === true ? await matchingTeam(context, text) : valueOf(field, [text], nowMs);
  }
  return asked;
}

function searchField(name: string, member: InputField): Field {
  const label = labelOf(name, member);
  if (member.enum === undefined) return { name, label, attributes: { autocomplete: 'off', ...member.given?.attributes } };
  return { name, label, choices: [{ value: '', label: 'any' }, ...choicesOf(member)] };
}

/** A file with all rows that the query asks for. */
export function filePage(path: string, one: AdminOperation): ConsoleRoute {
  const fields = fieldsOf(one);
  return get(path, ({ request: { query }, nowMs, context }) => {
    const given = Object.fromEntries([...query].map(([name, sent]) => [name, valueOf(fields.get(name) ?? {}, [sent], nowMs)]));
    return downloadOf(one, context, checked(one, given, nowMs));
  });
}
