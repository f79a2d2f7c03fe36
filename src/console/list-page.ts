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
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from './console-route.ts';
import { queryOf, searchForm } from './form.ts';
import type { Field } from './form.ts';
import { namesOf, tableOf, teamLink } from './cells.ts';
import { titleOf } from './layout.ts';
import type { Section } from './layout.ts';
import { count } from './shown.ts';
import { choicesOf } from './operation-form.ts';

/** What is wrong with a question. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | OperationRefusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === 'validation_error') return error.refusal;
    throw error;
  }
}

export type AskedTexts = Readonly<Record<string, string>>;

/** A form that asks for rows. */
interface ListForm {
  /** What its fields hold, by what was sent. */
  readonly texts: (sent: (name: string) => string, nowMs: number) => AskedTexts;
  readonly fields: (texts: AskedTexts, visit: SignedInVisit) => readonly Field[];
  /** The question in them. */
  readonly given: (texts: AskedTexts, visit: SignedInVisit) => GivenMembers | Promise<GivenMembers>;
  /** The button's text: by default "Search", and beside it stands how to ask for all. */
  readonly submit?: string;
}

/** What was asked for, and the page of it at the query's cursor. */
interface FoundRows<Row> extends ShownPage {
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
  readonly texts: AskedTexts;
  readonly given: GivenMembers;
  readonly visit: SignedInVisit;
}

type Beside<Row> = (listing: FoundRows<Row>) => Html | undefined | Promise<Html | undefined>;

export interface ListPage<Row> {
  readonly one: AdminOperation;
  /** Also its path below `/console`. */
  readonly section: Section;
  readonly intro?: string;
  /** What is listed, in plural, if that is not the title. */
  readonly of?: string;
  readonly pageSize?: number;
  /** Whether a wrong cursor gets the first page: a truncated link still opens one. */
  readonly orFirst?: true;
  /** By default that of the operation's input. */
  readonly form?: ListForm;
  readonly besideTitle?: (visit: SignedInVisit) => Html | undefined;
  readonly above?: Beside<Row>;
  /** What is not as in other lists; `undefined` for no table at all. */
  readonly table?: (listing: FoundRows<Row>) => { caption: string; none?: string; rows?: readonly Row[] } | undefined;
  readonly below?: Beside<Row>;
}

/** A page with filters, a table of rows, and links to further pages. */
export function listPage<Row>(list: ListPage<Row>): ConsoleRoute {
  return get(`/${list.section}`, (visit) => listAnswer(list, visit));
}

export async function listAnswer<Row>(list: ListPage<Row>, visit: SignedInVisit): Promise<ConsoleAnswer> {
  const { one, section, intro, form = formOf(one) } = list;
  const title = titleOf(section);
  const texts = form.texts((name) => (visit.request.query.get(name) ?? '').trim(), visit.nowMs);
  const found = await orRefusal(() => listing(list, texts, visit));
  const fault = 'words' in found ? detailOf(found) : undefined;
  const search = searchForm({
    action: `/${section}`,
    fields: form.fields(texts, visit),
    texts,
    submit: form.submit ?? 'Search',
    fault,
    isFiltered: form.submit === undefined && Object.values(texts).some((text) => text !== ''),
  });
  const main = html`<div class="title">
      <h1>${title}</h1>
      ${list.besideTitle?.(visit)}
    </div>
    ${intro && html`<p class="soft">${intro}</p>`} ${search} ${'words' in found ? undefined : await rowsOf(list, found)}`;
  return pageAnswer({ title, section, main }, 'words' in found ? { [found.field ?? 'query']: fault! } : {});
}

export async function listing<Row>(
  { one, form = formOf(one), orFirst, pageSize = PAGE_DEFAULT }: ListPage<Row>,
  texts: AskedTexts,
  visit: SignedInVisit,
): Promise<FoundRows<Row>> {
  const { request, nowMs, context } = visit;
  const given = await form.given(texts, visit);
  const input = checked(one, given, nowMs);
  const cursor = request.query.get('cursor') || undefined;
  const at = (place: string | undefined) => pageAt(one, context, input, place, pageSize);
  const found = orFirst ? await orRefusal(() => at(cursor)) : await at(cursor);
  const isFirst = cursor === undefined || 'words' in found;
  const page = 'words' in found ? await at(undefined) : found;
  return { ...page, rows: page.rows as readonly Row[], isFirst, texts, given, visit };
}

async function rowsOf<Row>(list: ListPage<Row>, found: FoundRows<Row>): Promise<Html> {
  const { one, section, of = titleOf(section), above, below } = list;
  const { texts, isFirst, next, checkedMax } = found;
  const to = (cursor?: string): string => `${CONSOLE_PREFIX}/${section}${queryOf({ ...texts, cursor })}`;
  const [first, further] = one.listing?.newestFirst === true ? ['Newest', 'Older'] : ['First page', 'Next page'];
  const checkedNote = html`<p class="soft">
    ${count(checkedMax ?? 0)} ${of.toLowerCase()} were checked for this page; the next one goes on behind them.
  </p>`;
  const pager = html`<nav class="pager" aria-label="Pages">
    ${isFirst ? undefined : html`<a href="${to()}">${first}</a>`} ${next && html`<a href="${to(next)}" rel="next">${further}</a>`}
  </nav>`;
  return html`${await above?.(found)} ${await rowsTable(list, found)} ${await below?.(found)}
  ${checkedMax === undefined ? undefined : checkedNote} ${isFirst && next === undefined ? undefined : pager}`;
}

/** With whose rows they are, and whose are still to come. */
export async function rowsTable<Row>({ one, section, of = titleOf(section), table }: ListPage<Row>, found: FoundRows<Row>): Promise<Html> {
  const { given, visit, missing } = found;
  const teamId = given['team'] as string | undefined;
  const words = missing.length === 0 ? undefined : one.listing!.missing!.words(missing);
  const shown = table === undefined ? { caption: one.listing?.newestFirst === true ? `${of}, newest first` : of } : table(found);
  const { caption = '', none = one.none, rows = found.rows } = shown ?? {};
  const hidden = teamId === undefined ? [] : ['Team'];
  return html`${teamId && html`<p>${of} of team ${teamLink(await namesOf(visit.context, [teamId]), teamId)}.</p>`}
  ${words && html`<p class="warning">${words.charAt(0).toUpperCase()}${words.slice(1)}.</p>`}
  ${shown && (await tableOf({ ...one, none }, rows, visit, { caption, hidden, input: given }))}`;
}

function formOf(one: AdminOperation): ListForm {
  const members = [...fieldsOf(forPrograms(one))];
  return {
    texts: (sent) => Object.fromEntries(members.map(([name]) => [name, sent(name)])),
    fields: () => members.map(([name, member]) => searchField(name, member)),
    given: (texts, visit) => askedIn(members, texts, visit),
  };
}

/** The question in a form's fields, where a team may be named by another word than its id. */
async function askedIn(
  fields: readonly (readonly [string, InputField])[],
  sent: AskedTexts,
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
