// Rows of operations as tables and facts: cells as a page shows them, with the names of teams and
// the beginnings of keys. Tables become cards on a phone: each cell has its column's name, and
// roles that survive the change of display.
import { labelOf } from '../admin/input.ts';
import type { AdminOperation, Cell, RowColumn } from '../admin/operation.ts';
import type { OperationContext } from '../admin/operation-context.ts';
import { anchorOf } from '../core/problem.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { SignedInVisit } from './console-route.ts';
import { ago, count, day, moment, money, size, usageBar } from './shown.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { KeyRecord } from '../ports/team-registry.ts';

/** What there is to list, in the words of an operation. */
type Listed = Pick<AdminOperation<never, never>, 'columns'> & { readonly none?: Html | string };

/** Of whose names are shown, and when. */
type Here = Pick<SignedInVisit, 'context' | 'nowMs'>;

interface Around {
  readonly caption: string;
  /** Heads of columns that say the same in every row. */
  readonly hidden?: readonly string[];
  /** The question, by which some columns are there. */
  readonly input?: object;
  /** Where the first column leads, below `/console`, if it does. */
  readonly leadsTo?: (row: never) => string | undefined;
  /** A last column with links to changes. */
  readonly change?: ((row: never) => Html | string) | undefined;
  /** Limits the page. */
  readonly most?: number;
  /** The command that lists further rows. */
  readonly more?: string;
}

/** Rows as a table, with the names of teams and keys; or that there are none. */
export async function tableOf(
  { columns: all = [], none }: Listed,
  rows: readonly unknown[],
  { context, nowMs }: Here,
  around: Around,
): Promise<Html> {
  if (rows.length === 0) return html`<p class="soft">${none}</p>`;
  const { caption, hidden = [], input = {}, leadsTo, change, most = rows.length, more } = around;
  const isAsked = ({ when }: (typeof all)[number]): boolean => when === undefined || when(input as never);
  const columns = all.filter((one) => one.only !== 'command' && !hidden.includes(one.head) && isAsked(one));
  const cells = rows.slice(0, most).map((row) => columns.map(({ cell }) => cell(row as never, nowMs)));
  const known = await knownIn(cells.flat(), context);
  const linked = (row: unknown, text: Html | string): Html | string => {
    const to = leadsTo?.(row as never);
    return to === undefined ? text : html`<a href="${CONSOLE_PREFIX}${to}">${text}</a>`;
  };
  const table = htmlTable({
    caption,
    columns: [...columns, ...(change === undefined ? [] : ['Change'])],
    rows: cells.map((shownCells, index) => [
      ...shownCells.map((cell, at) => (at === 0 ? linked(rows[index], shown(cell, known, nowMs)) : shown(cell, known, nowMs))),
      ...(change === undefined ? [] : [change(rows[index] as never)]),
    ]),
    wide: columns.length > 6,
  });
  const left = rows.length - cells.length;
  return left === 0 || more === undefined
    ? table
    : html`${table}
        <p class="soft">${count(left)} more are listed by <code>${more}</code>.</p>`;
}

/** One row as facts, without its name, which is the page's title. */
export async function factsOf({ columns = [] }: AdminOperation, row: unknown, { context, nowMs }: Here): Promise<Html> {
  const [, ...facts] = columns.map(({ head, cell }) => [head, cell(row as never, nowMs)] as const);
  const known = await knownIn(
    facts.map(([, cell]) => cell),
    context,
  );
  return factList(...facts.map(([head, cell]) => [head, shown(cell, known, nowMs)] as const));
}

/** A record by the names of its facts. */
export function recordFacts(facts: Readonly<Record<string, Cell>>, nowMs: number): Fact[] {
  return Object.entries(facts).map(([name, cell]) => [labelOf(name, {}), shown(cell, NOTHING_KNOWN, nowMs)] as const);
}

const NOTHING_KNOWN: Known = { teams: new Map(), keys: new Map() };

interface Known {
  readonly teams: TeamNames;
  readonly keys: KnownKeys;
}

async function knownIn(cells: readonly Cell[], context: OperationContext): Promise<Known> {
  const objects = cells.filter((cell) => typeof cell === 'object');
  const teams = objects.flatMap((cell) => (cell.kind === 'team' && cell.name === undefined ? [cell.id] : []));
  const keys = objects.flatMap((cell) => (cell.kind === 'key' && cell.display === undefined ? [cell.teamId] : []));
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
      if (cell.name === undefined) return teamLink(teams, cell.id);
      return cell.name === null ? html`<code>${cell.id}</code> (deleted)` : linkToTeam(cell.id, cell.name);
    case 'key':
      return cell.display === undefined ? keyText(cell.id, keys) : keyLink(cell.teamId, cell.id, cell.display);
    case 'share':
      return html`${usageBar(cell.what, cell.used, cell.of)} ${cell.until === undefined ? undefined : untilText(cell.until)}`;
    case 'money':
      return money(cell.minor, cell.currency);
    case 'below':
      return html`${shown(cell.cell, { teams, keys }, nowMs)}<br /><span class="soft${cell.below.length < LONG ? ' short' : ''}"
          >${cell.below}</span
        >`;
    case 'bytes':
      return size(cell.bytes);
    case 'status':
      return html`<span class="${cell.status}">${cell.status}</span>`;
    case 'code':
      return html`<code>${cell.text}</code>`;
    case 'problem':
      return html`${cell.before}${problemLink(cell.code)}`;
    case 'path':
      return brokenAtSlashes(cell.text);
    case 'word':
      return html`<span class="short" title="${cell.word}">${cell.words}</span>`;
    case 'changes':
      return changesText(cell);
  }
}

/** Outcomes that are no problems of callers, and have no page. */
const WITHOUT_PAGE = ['ok', 'client_closed', 'csrf_invalid'];

/** A problem's code, with a link to its page. */
export function problemLink(code: string, shownAs: Html | string = code): Html {
  return WITHOUT_PAGE.includes(code) ? html`${shownAs}` : html`<a href="/docs/errors#${anchorOf(code)}">${shownAs}</a>`;
}

/** The key's beginning and label, with a link to its page. */
function keyText(keyId: string, keys: KnownKeys): Html {
  const key = keys.get(keyId);
  if (key === undefined) return html`<code>${keyId}</code>`;
  return html`${keyLink(key.teamId, keyId, key.display)}${key.label === '' ? '' : ` ${key.label}`}`;
}

function keyLink(teamId: string, keyId: string, display: string): Html {
  return html`<a href="${CONSOLE_PREFIX}/teams/${teamId}/keys/${keyId}" title="${keyId}"><code>${display}…</code></a>`;
}

/** A day, or a time of one. */
function untilText(at: string): string {
  return ` until ${at.endsWith('T00:00:00Z') ? at.slice(0, 10) : at.slice(11, 16)} UTC`;
}

/** A new team has a dozen members: only the first are shown until the reader opens the rest. */
const CHANGES_SHOWN = 2;

function changesText({ before, after }: Extract<Cell, { kind: 'changes' }>): Html | string {
  const names = Object.keys({ ...before, ...after });
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

/** Shorter texts than this fit into a line. */
const LONG = 20;

/** A long path is continued on the next line behind a slash, not within a word. */
export function brokenAtSlashes(path: string): Html | string {
  if (path.length < LONG) return path;
  return html`${path.split(/(?<=\/)(?=[^/])/).map((part, index) => (index === 0 ? part : html`<wbr />${part}`))}`;
}

/** By id; teams that were deleted or cannot be read are missing. */
export type TeamNames = ReadonlyMap<string, string>;

/** One look-up for each team; pages are short. */
export function namesOf({ options: { teams } }: OperationContext, teamIds: readonly string[]): Promise<TeamNames> {
  return ofEach(teamIds, async (id) => {
    const team = await teams.findTeam(id);
    return team === undefined || isUnavailable(team) ? [] : [[id, team.name]];
  });
}

/** By id. */
type KnownKeys = ReadonlyMap<string, Pick<KeyRecord, 'display' | 'label' | 'teamId'>>;

/** All keys of these teams. */
function keysOf({ options: { teams } }: OperationContext, teamIds: readonly string[]): Promise<KnownKeys> {
  return ofEach(teamIds, async (id) => {
    const keys = await teams.listKeys(id);
    return keys === undefined || isUnavailable(keys) ? [] : keys.map((key) => [key.keyId, key]);
  });
}

async function ofEach<T>(ids: readonly string[], read: (id: string) => Promise<[string, T][]>): Promise<ReadonlyMap<string, T>> {
  return new Map((await Promise.all([...new Set(ids)].map(read))).flat());
}

/** With a link to the team's page and the id as a tooltip; the id alone without such a team. */
export function teamLink(names: TeamNames, teamId: string): Html {
  const name = names.get(teamId);
  return name === undefined ? html`<code>${teamId}</code>` : linkToTeam(teamId, name);
}

function linkToTeam(teamId: string, name: string): Html {
  return html`<a href="${CONSOLE_PREFIX}/teams/${teamId}" title="${teamId}">${name}</a>`;
}

type Column = Pick<RowColumn, 'head' | 'holds'>;

export function numeric(head: string): Column {
  return { head, holds: 'figures' };
}

export function freeText(head: string): Column {
  return { head, holds: 'text' };
}

interface Table {
  /** The table's caption, for screen readers; not shown if a heading already says it. */
  readonly caption: string;
  readonly columns: readonly (Column | string)[];
  /** Few, short columns: stays a table on a phone. */
  readonly compact?: boolean;
  /** Many columns: they are closer together, and their heads may take two lines. */
  readonly wide?: boolean;
  /** As many cells as columns; the first is the row's header. */
  readonly rows: readonly (readonly (Html | string)[])[];
}

export function htmlTable({ caption, columns: given, rows, compact = false, wide = false }: Table): Html {
  const columns = given.map((column) => (typeof column === 'string' ? { head: column } : column));
  const kindOf = ({ holds }: Column): Html | undefined => holds && html` class="${holds}"`;
  const heads = columns.map((column) => html`<th role="columnheader" scope="col" ${kindOf(column)}>${column.head}</th>`);
  const cells = (row: readonly (Html | string)[]): Html[] =>
    columns.map((column, index) => {
      const value = row[index];
      if (index === 0) return html`<th role="rowheader" scope="row">${value}</th>`;
      return html`<td role="cell" data-label="${column.head}" ${kindOf(column)}>${value}</td>`;
    });
  return html`<table role="table" ${compact ? html` class="compact"` : wide ? html` class="wide"` : undefined}>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${heads}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) =>
          html`<tr role="row">
            ${cells(row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Facts by name; those that are undefined do not apply. */
type Fact = readonly [name: string, value: Html | string | undefined];

export function factList(...facts: readonly Fact[]): Html {
  const some = facts.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">
    ${some.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
