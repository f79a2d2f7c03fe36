// Lists of the console from operations: filters, tables of rows with the names of teams and keys, further pages, files.
import { checked, detailOf, fieldsOf, labelOf, valueOf } from '../admin/input.ts';
import type { InputField, GivenMembers } from '../admin/input.ts';
import { PAGE_DEFAULT, pageAt } from '../admin/listing.ts';
import type { ShownPage } from '../admin/listing.ts';
import { downloadOf } from '../admin/csv.ts';
import type { AdminOperation, Cell, Result, RowColumn } from '../admin/operation.ts';
import { forPrograms, paged } from '../admin/operation-http.ts';
import { matchingTeam } from '../admin/matching-teams.ts';
import { refusalOf } from '../admin/admin-refusals.ts';
import type { OperationContext } from '../admin/operation-context.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { Default } from '../domain/typebox.ts';
import { CONSOLE_PREFIX, pageAnswer } from './console-route.ts';
import type { ConsoleAnswer, ConsoleParts, SignedInVisit } from './console-route.ts';
import { holding, queryOf, searchForm, selectField, textField } from './form.ts';
import type { FieldFaults } from './form.ts';
import { checkedNote, factList, htmlTable, pager } from './html-table.ts';
import type { Section } from './layout.ts';
import { choicesOf } from './operation-form.ts';
import { ago, count, day, moment, size } from './shown.ts';
import { keysOf, namesOf, teamLink } from './team-names.ts';
import type { KnownKeys, TeamNames } from './team-names.ts';

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
    const found = await rowsFor(one, visit, context, pageSize);
    if (found.kind === 'refused' && found.code === 'validation_error') {
      const fault = detailOf(found);
      return content(filter(query, fault), { [found.field ?? 'query']: fault });
    }
    if (found.kind !== 'done') return refusalOf(found);
    const { rows, next, checkedMax, input } = found.value;
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

/** The handler of a file with all rows that the query asks for. */
export function filePage(one: AdminOperation) {
  return async ({ request: { query }, nowMs }: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> => {
    const fields = fieldsOf(one);
    const given = Object.fromEntries([...query].map(([name, sent]) => [name, valueOf(fields.get(name) ?? {}, [sent], nowMs)]));
    const read = checked(one, given, nowMs);
    if ('kind' in read) return refusalOf(read);
    const file = await downloadOf(one, context, read.input);
    return file.kind === 'download' ? file : refusalOf(file);
  };
}

export interface ReadRows<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** Names of teams of this page whose rows are still to come. */
  readonly missing: readonly string[];
}

/** The page of a question at the cursor of the query; the first one if a truncated link has none of its own. */
export async function pageOfQuery<Row>(
  one: AdminOperation,
  { request: { query } }: SignedInVisit,
  context: OperationContext,
  input: GivenMembers,
  limit: number,
): Promise<Result<ReadRows<Row>>> {
  const whole = Default(one.input, { ...input }) as GivenMembers;
  const cursor = query.get('cursor') ?? undefined;
  const atCursor = await pageAt(one, context, whole, cursor, limit);
  const isFirst = cursor === undefined || atCursor.kind === 'refused';
  const found = atCursor.kind === 'refused' ? await pageAt(one, context, whole, undefined, limit) : atCursor;
  if (found.kind !== 'done') return found;
  const { rows, next, missing } = found.value;
  return { kind: 'done', value: { rows: rows as readonly Row[], next, isFirst, missing } };
}

async function rowsFor(
  one: AdminOperation,
  { request: { query }, nowMs }: SignedInVisit,
  context: OperationContext,
  pageSize: number,
): Promise<Result<ShownPage & { readonly input: GivenMembers }>> {
  const taken = paged(one);
  const given: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(taken)) {
    const sent = query.get(name)?.trim() ?? '';
    if (sent === '') continue;
    const team = field.given?.matching === true ? await matchingTeam(context, sent) : undefined;
    if (team !== undefined && 'kind' in team) return team;
    given[name] = team?.teamId ?? valueOf(field, [sent], nowMs);
  }
  const read = checked(taken, given, nowMs);
  if ('kind' in read) return read;
  const { cursor, limit = pageSize, ...input } = read.input as GivenMembers;
  const page = await pageAt(one, context, input, cursor as string | undefined, limit as number);
  return page.kind === 'done' ? { kind: 'done', value: { ...page.value, input } } : page;
}

function searchField(name: string, field: InputField, sent: string): Html {
  const { enum: choices, given = {} } = field;
  const [texts, label] = [holding({ [name]: sent }), labelOf(name, field)];
  if (choices === undefined) return textField(texts, name, label, { more: { autocomplete: 'off', ...given.attributes } });
  return selectField(texts, name, label, [{ value: '', label: 'any' }, ...choicesOf(field)]);
}

interface Around {
  readonly caption: string;
  readonly context: OperationContext;
  readonly nowMs: number;
  /** Heads of columns that say the same in every row. */
  readonly hidden?: readonly string[];
  /** Where the first column leads, below `/console`. */
  readonly leadsTo?: (row: never) => string;
  /** A last column with links to changes. */
  readonly change?: (row: never) => Html;
}

/** Rows as a table, with the names of teams and keys. */
export async function tableOf(
  { columns: all }: AdminOperation,
  rows: readonly unknown[],
  { caption, context, nowMs, hidden = [], leadsTo, change }: Around,
): Promise<Html> {
  const columns = all.filter(({ only, head }) => only !== 'command' && !hidden.includes(head));
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row as never, nowMs)));
  const known = await knownIn(cells.flat(), context);
  const linked = (row: unknown, text: Html | string): Html | string =>
    leadsTo === undefined ? text : html`<a href="${CONSOLE_PREFIX}${leadsTo(row as never)}">${text}</a>`;
  return htmlTable({
    caption,
    columns: [...columns.map(headOf), ...(change === undefined ? [] : ['Change'])],
    rows: rows.map((row, index) => [
      ...cells[index]!.map((cell, at) => (at === 0 ? linked(row, shown(cell, known, nowMs)) : shown(cell, known, nowMs))),
      ...(change === undefined ? [] : [change(row as never)]),
    ]),
    wide: columns.length > 6,
  });
}

/** One row as facts, without its name, which is the page's title. */
export async function factsOf({ columns }: AdminOperation, row: unknown, context: OperationContext, nowMs: number): Promise<Html> {
  const [, ...facts] = columns.map(({ head, cell }) => [head, cell(row as never, nowMs)] as const);
  const known = await knownIn(
    facts.map(([, cell]) => cell),
    context,
  );
  return factList(...facts.map(([head, cell]) => [head, shown(cell, known, nowMs)] as const));
}

function headOf({ head, holds }: Pick<RowColumn, 'head' | 'holds'>) {
  return holds === undefined ? head : { label: head, kind: holds };
}

interface Known {
  readonly teams: TeamNames;
  readonly keys: KnownKeys;
}

async function knownIn(cells: readonly Cell[], context: OperationContext): Promise<Known> {
  const objects = cells.filter((cell) => typeof cell === 'object');
  const teams = objects.flatMap((cell) => (cell.kind === 'team' ? [cell.id] : []));
  const keys = objects.flatMap((cell) => (cell.kind === 'key' ? [cell.teamId] : []));
  return { teams: await namesOf(context, teams), keys: await keysOf(context, keys) };
}

/** A cell as a page shows it. */
function shown(cell: Cell, { teams, keys }: Known, nowMs: number): Html | string {
  if (cell === undefined || cell === '') return '–';
  if (typeof cell === 'number') return count(cell);
  if (typeof cell === 'string') return cell;
  switch (cell.kind) {
    case 'moment':
      return cell.id === undefined ? moment(Date.parse(cell.at)) : html`<span title="${cell.id}">${moment(Date.parse(cell.at))}</span>`;
    case 'ago':
      return cell.at === null ? 'never' : ago(Date.parse(cell.at), nowMs);
    case 'day':
      return day(Date.parse(cell.at));
    case 'team':
      return teamLink(teams, cell.id);
    case 'key':
      return keyText(cell.id, keys);
    case 'bytes':
      return size(cell.bytes);
    case 'status':
      return html`<span class="${cell.status}">${cell.status}</span>`;
    case 'code':
      return html`<code>${cell.text}</code>`;
    case 'path':
      return brokenAtSlashes(cell.text);
    case 'word':
      return html`<span class="short" title="${cell.word}">${cell.words}</span>`;
    case 'changes':
      return changesText(cell);
  }
}

/** The key's beginning and label, with a link to its page. */
function keyText(keyId: string, keys: KnownKeys): Html {
  const key = keys.get(keyId);
  if (key === undefined) return html`<code>${keyId}</code>`;
  const label = key.label === '' ? '' : ` ${key.label}`;
  return html`<a href="${CONSOLE_PREFIX}/teams/${key.teamId}/keys/${keyId}" title="${keyId}"><code>${key.display}…</code></a
    >${label}`;
}

/** A new team has a dozen members: only the first are shown until the reader opens the rest. */
const CHANGES_SHOWN = 2;

function changesText({ before, after }: Extract<Cell, { kind: 'changes' }>): Html | string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return '–';
  const list = (some: readonly string[]): Html =>
    html`<ul class="changes">
      ${some.map((name) => html`<li>${name.replaceAll('_', ' ')}: ${changeText(before[name], after[name])}</li>`)}
    </ul>`;
  const [first, rest] = [names.slice(0, CHANGES_SHOWN), names.slice(CHANGES_SHOWN)];
  if (rest.length < 2) return list(names);
  return html`${list(first)}
    <details class="more">
      <summary>${rest.length} more</summary>
      ${list(rest)}
    </details>`;
}

function changeText(was: string | number | undefined, is: string | number | undefined): Html | string {
  if (was === undefined) return String(is);
  return html`<del>${was}</del> ${is === undefined ? undefined : html`<ins>${is}</ins>`}`;
}

/** Shorter ones than this fit. */
const LONG_PATH = 24;

/** A long path is continued on the next line behind a slash, not within a word. */
function brokenAtSlashes(path: string): Html | string {
  if (path.length < LONG_PATH) return path;
  return html`${path.split(/(?<=\/)(?=.)/).map((part, index) => (index === 0 ? part : html`<wbr />${part}`))}`;
}
