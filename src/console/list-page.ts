// Lists of the console from operations: filters, tables of rows with names, further pages, files.
import { checked, detailOf, fieldsOf, labelOf, valueOf } from '../admin/input.ts';
import type { InputField, GivenMembers } from '../admin/input.ts';
import { PAGE_DEFAULT, pageAt } from '../admin/listing.ts';
import type { ShownPage } from '../admin/listing.ts';
import { downloadOf } from '../admin/csv.ts';
import { RefusedError } from '../admin/operation.ts';
import type { AdminOperation, OperationRefusal } from '../admin/operation.ts';
import { forPrograms, paged } from '../admin/operation-http.ts';
import { matchingTeam } from '../admin/operations/team-search.ts';
import type { OperationContext } from '../admin/operation-context.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { Default } from '../domain/typebox.ts';
import { CONSOLE_PREFIX, pageAnswer } from './console-route.ts';
import type { ConsoleAnswer, ConsoleParts, SignedInVisit } from './console-route.ts';
import { holding, queryOf, searchForm, selectField, textField } from './form.ts';
import type { FieldFaults } from './form.ts';
import { checkedNote, pager, namesOf, tableOf, teamLink } from './cells.ts';
import type { Section } from './layout.ts';
import { choicesOf } from './operation-form.ts';

interface ListPage {
  readonly one: AdminOperation;
  /** Below `/console`. */
  readonly path: string;
  readonly section: Section;
  readonly title: string;
  readonly intro?: string;
  /** What is listed, in plural, if that is not the title. */
  readonly of?: string;
  readonly pageSize?: number;
}

/** The handler of a page with filters, a table of rows, and links to further pages. */
export function listPage({ one, path, section, title, intro, of = title, pageSize = PAGE_DEFAULT }: ListPage) {
  const fields = fieldsOf(forPrograms(one));
  const content = (main: Html, faults: FieldFaults = {}): ConsoleAnswer => {
    const lead = intro === undefined ? undefined : html`<p class="soft">${intro}</p>`;
    return pageAnswer(
      {
        title,
        section,
        main: html`<h1>${title}</h1>
          ${lead} ${main}`,
      },
      faults,
    );
  };
  const filter = (query: URLSearchParams, fault: string | undefined): Html =>
    searchForm({
      action: path,
      fields: [...fields].map(([name, field]) => searchField(name, field, (query.get(name) ?? '').trim())),
      submit: 'Search',
      fault,
      isFiltered: [...fields.keys()].some((name) => (query.get(name) ?? '').trim() !== ''),
    });
  return async (visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> => {
    const { query } = visit.request;
    const found = await orRefusal(() => rowsFor(one, visit, context, pageSize));
    if ('words' in found) {
      const fault = detailOf(found);
      return content(filter(query, fault), { [found.field ?? 'query']: fault });
    }
    const { rows, next, checkedMax, input } = found;
    const teamId = input['team'] as string | undefined;
    const search = Object.fromEntries([...fields.keys(), 'limit'].map((name) => [name, query.get(name) ?? undefined]));
    const to = (cursor: string | undefined): string => `${CONSOLE_PREFIX}${path}${queryOf({ ...search, cursor })}`;
    const isNewestFirst = one.listing?.newestFirst === true;
    const around = {
      caption: isNewestFirst ? `${of}, newest first` : of,
      context,
      nowMs: visit.nowMs,
      hidden: teamId === undefined ? [] : ['Team'],
    };
    return content(
      html`${filter(query, undefined)}
      ${teamId === undefined ? undefined : html`<p>${of} of team ${teamLink(await namesOf(context, [teamId]), teamId)}.</p>`}
      ${rows.length === 0 ? html`<p class="soft">${one.none}</p>` : await tableOf(one, rows, around)}
      ${checkedNote(checkedMax, of.toLowerCase())}
      ${pager(query.has('cursor') ? to(undefined) : undefined, next && to(next), isNewestFirst ? ['Newest', 'Older'] : ['First page', 'Next page'])}`,
    );
  };
}

/** What is wrong with a question. */
export async function orRefusal<T>(work: () => Promise<T>): Promise<T | OperationRefusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === 'validation_error') return error.refusal;
    throw error;
  }
}

/** The handler of a file with all rows that the query asks for. */
export function filePage(one: AdminOperation) {
  return ({ request: { query }, nowMs }: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> => {
    const fields = fieldsOf(one);
    const given = Object.fromEntries([...query].map(([name, sent]) => [name, valueOf(fields.get(name) ?? {}, [sent], nowMs)]));
    return downloadOf(one, context, checked(one, given, nowMs));
  };
}

export interface ReadRows<Row> extends Pick<ShownPage, 'next' | 'missing'> {
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
}

/** A question's page at the query's cursor; the first one if a truncated link has none. */
export async function pageOfQuery<Row>(
  one: AdminOperation,
  { request: { query } }: SignedInVisit,
  context: OperationContext,
  input: GivenMembers,
  limit: number,
): Promise<ReadRows<Row>> {
  const whole = Default(one.input, { ...input }) as GivenMembers;
  const cursor = query.get('cursor') ?? undefined;
  const atCursor = await orRefusal(() => pageAt(one, context, whole, cursor, limit));
  const found = 'words' in atCursor ? await pageAt(one, context, whole, undefined, limit) : atCursor;
  return { ...found, rows: found.rows as readonly Row[], isFirst: cursor === undefined || 'words' in atCursor };
}

async function rowsFor(
  one: AdminOperation,
  { request: { query }, nowMs }: SignedInVisit,
  context: OperationContext,
  pageSize: number,
): Promise<ShownPage & { readonly input: GivenMembers }> {
  const taken = paged(one);
  const given: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(taken)) {
    const sent = query.get(name)?.trim() ?? '';
    if (sent !== '') given[name] = field.given?.matching === true ? await matchingTeam(context, sent) : valueOf(field, [sent], nowMs);
  }
  const { cursor, limit = pageSize, ...input } = checked(taken, given, nowMs) as GivenMembers;
  return { ...(await pageAt(one, context, input, cursor as string | undefined, limit as number)), input };
}

function searchField(name: string, field: InputField, sent: string): Html {
  const { enum: choices, given = {} } = field;
  const [texts, label] = [holding({ [name]: sent }), labelOf(name, field)];
  if (choices === undefined) return textField(texts, name, label, { more: { autocomplete: 'off', ...given.attributes } });
  return selectField(texts, name, label, [{ value: '', label: 'any' }, ...choicesOf(field)]);
}
