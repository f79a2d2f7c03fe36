// An operation of operators: what it takes, what it answers, what it does, and how it is shown.
// Routes of the admin API, its OpenAPI document, commands, and pages of the console are derived
// from it.
import type { Static, TObject, TOptional, TProperties, TSchema } from 'typebox';
import { answered } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { Type } from '../domain/typebox.ts';
import type { ChangeOnce } from '../ports/team-registry.ts';
import type { OperationContext, Plans } from './operation-context.ts';

/** Why it is not carried out, in words that follow the name of `field`, if there is one. */
export interface OperationRefusal {
  readonly kind: 'refused';
  readonly code: 'not_found' | 'validation_error';
  /** A member of the input. In `words`, `{name}` stands for another one, as each front calls it. */
  readonly field?: string | undefined;
  readonly words: string;
  /** For the command line: the same with the given id, and where the right ones are found. */
  readonly named?: string | undefined;
  /** What else is wrong with the input. */
  readonly more?: readonly OperationRefusal[];
  /** Members that the problem document has besides. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export interface Done<T> {
  readonly kind: 'done';
  readonly value: T;
  /** Whether a replica has the change; `undefined` if that does not matter, or there is none. */
  readonly replicated?: boolean | undefined;
  /** Members of the audit line in the log, besides the team of the path. */
  readonly audit?: Readonly<Record<string, string | number>> | undefined;
  /** Sentences on what was done and may not be intended. */
  readonly warnings?: readonly string[] | undefined;
}

/** One attempt at an operation, which may be a repetition. */
export interface OperationAttempt {
  /** The id for the record to create; a repetition has the same one. */
  readonly id?: string | undefined;
  /** The same for a change of an existing record. */
  readonly once?: ChangeOnce | undefined;
  /** The mark of the question to which someone said yes: nothing else is carried out. */
  readonly agreed?: string | undefined;
  /** Called after each of many records that are changed. */
  readonly onProgress?: ((changed: number, all: number) => void) | undefined;
}

/** What a table or a list of facts shows of a row; each front in its own way. */
export type Cell =
  | string
  | number
  | undefined
  /** RFC 3339. `id` is that of the row, as a tooltip. */
  | { readonly kind: 'moment'; readonly at: string; readonly id?: string }
  | { readonly kind: 'day'; readonly at: string }
  /** How long ago, with the time itself; `null` for never. */
  | { readonly kind: 'ago'; readonly at: string | null }
  /** Looked up where only ids are known. A deleted team has the name `null`. */
  | { readonly kind: 'team'; readonly id: string; readonly name?: string | null }
  | { readonly kind: 'key'; readonly id: string; readonly teamId: string; readonly label?: string | null; readonly display?: string }
  /** What is used of a limit, and when that begins anew; `what` names it beside the bar. */
  | { readonly kind: 'share'; readonly what: string; readonly used: number; readonly of: number; readonly until?: string }
  | { readonly kind: 'money'; readonly minor: number; readonly currency: string }
  /** A cell with more below it. */
  | { readonly kind: 'below'; readonly cell: Cell; readonly below: string }
  | { readonly kind: 'code'; readonly text: string }
  /** A problem's code, perhaps with a word before it. */
  | { readonly kind: 'problem'; readonly code: string; readonly before?: string }
  | { readonly kind: 'path'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'status'; readonly status: string }
  /** One of a program's words, and what people say. */
  | { readonly kind: 'word'; readonly word: string; readonly words: string }
  /** Of a change, what each member was and is. */
  | { readonly kind: 'changes'; readonly before: Values; readonly after: Values };

type Values = Readonly<Record<string, string | number>>;

export interface RowColumn<Row = never, Input = unknown> {
  readonly head: string;
  readonly cell: (row: Row, nowMs: number) => Cell;
  /** `figures` are numbers; `text` is text by users, of any length. */
  readonly holds?: 'figures' | 'text';
  /** The only front that shows it. */
  readonly only?: 'command' | 'console';
  /** Whether rows of this question have it. */
  readonly when?: (input: Input) => boolean;
}

/** With its place, from where a later reading goes on; or a team before its rows. */
export type ListEntry<Row> = { readonly row: Row; readonly at: unknown } | { readonly missing: string };

/** What was read of the store together. */
export interface ListPiece<Row> {
  readonly entries: readonly ListEntry<Row>[];
  /** The place behind all of it. */
  readonly end: unknown;
  /** How many records, or teams, it was made of. */
  readonly checked: number;
}

interface Listing<Input, Row> {
  /** For pages and files: rows in order, from behind a place. `size` is needed at most. */
  readonly read: (context: OperationContext, input: Input, after: unknown, size: number) => AsyncGenerator<ListPiece<Row>, void, void>;
  readonly file?: RowFile<Input, Row>;
  /** How missing rows are reported: a member beside the rows, and a sentence. */
  readonly missing?: { readonly member: string; readonly about: string; readonly words: (names: readonly string[]) => string };
  /** A front may show a row's time beside it: newest first. */
  readonly newestFirst?: true;
}

/** All rows, as a file. */
interface RowFile<Input, Row> {
  /** Members of a row, in their order. */
  readonly columns: (input: Input) => readonly string[];
  /** Without the ending. */
  readonly name: (input: Input, nowMs: number) => string;
  /** Adds up what the command says below its rows. */
  readonly totals?: () => { add(rows: readonly Row[]): void; text(): string };
}

/** What is asked before something is done that cannot be undone, or costs somebody more. */
export interface AskedBefore {
  /** What will happen, in sentences. */
  readonly does: string;
  /** Whether requests are refused from then on: then the button is a dangerous one. */
  readonly refuses?: boolean;
  /** Stands for what it says, but for what has been used, which grows while it is read. */
  readonly mark?: string;
  /** What is typed to go on, and what that is: `its name`. */
  readonly word: string;
  readonly wordIs: string;
}

/** A button on the page of its record, in the console: nothing is given but what is known of it. */
interface RecordButton<Row, Input> {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  /** The button's text; by default the title. */
  readonly submit?: string;
  readonly danger?: true;
  /** What to know before. */
  readonly about: string;
  /** Whether it is offered. */
  readonly when?: (row: Row) => boolean;
  /** Besides what is in the path. */
  readonly given?: (row: Row) => Partial<Input>;
  /** What was done; by default in the operation's words. */
  readonly notice?: (row: Row) => string;
}

interface RowsBelow<Row> {
  readonly heads: readonly string[];
  readonly rows: (row: Row, nowMs: number) => readonly (readonly Cell[])[];
  /** What is said instead of an empty table. */
  readonly none?: string;
}

export interface AdminOperation<Input extends TObject = TObject, Row extends TSchema = TSchema> {
  /** The `operationId`, and the action in the audit. */
  readonly id: string;
  /** What was done, in the audit's lists: `team created`. Only if it changes something. */
  readonly past?: string;
  /** The words after `lingate`; `undefined` if there is no such command. */
  readonly command?: string;
  /** Method and path below `/admin/v1`; `{name}` stands for a member of `input`. */
  readonly http: `${'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;
  readonly summary: string;
  /** What users should know beyond the summary. */
  readonly about?: string;
  /** Complete command lines. */
  readonly examples?: readonly string[];
  /** What is given, wherever it is given: in the path, the query, the body, by flags or fields. */
  readonly input: Input;
  /** The command needs one of these, where the API has a default. */
  readonly needs?: readonly string[];
  /** Members that `null`, a flag `--no-…` or an empty field removes. */
  readonly clears?: readonly string[];
  /** Rules over several members, which a schema cannot say. */
  readonly judge?: (input: Static<Input>, nowMs: number) => OperationRefusal | undefined;
  /** Of the answer, or of each row of a list. */
  readonly row: Row;
  /** The member of the answer that is the list. */
  readonly list?: string;
  /** A member of the answer that a repetition with the same `Idempotency-Key` does not get. */
  readonly shownOnce?: string;
  /** Changes nothing although it is not a GET: what it searches for must not be in a URL. */
  readonly looksOnly?: true;
  /** A request may leave its body out. */
  readonly bodyOptional?: true;
  /** By default 200; with 204 the API answers without a body. */
  readonly status?: 201 | 204;
  /** Of a list; of one record, what it shows unless `facts` says that. */
  readonly columns?: readonly RowColumn<Static<Row>, Static<Input>>[];
  /** What one record shows by name; what is `undefined` is left out. */
  readonly facts?: (row: Static<Row>) => Readonly<Record<string, Cell>>;
  /** A table below one record. */
  readonly below?: RowsBelow<Static<Row>>;
  /** What is said of an empty list. */
  readonly none?: string;
  /** The command fails with these words if there are no rows. */
  readonly noneFails?: string;
  /** Throws a `RefusedError` if it is not carried out, and a `StoreError` if the store is away. */
  readonly run?: (context: OperationContext, input: Static<Input>, attempt?: OperationAttempt) => Promise<Done<unknown>>;
  /** Instead of `run`. */
  readonly listing?: Listing<Static<Input>, Static<Row>>;
  /** `undefined` if nothing is asked. Who goes on gives `confirm`, if the input has it. */
  readonly asks?: (context: OperationContext, input: Static<Input>) => Promise<AskedBefore | undefined>;
  /** What always asks, as the message without a terminal names it: `deleting a glossary`. */
  readonly asking?: string;
  /** Another way than to go on, for who cannot be asked. */
  readonly instead?: string;
  /** Throws what the command refuses by the plans of the configuration, before it opens a store. */
  readonly judgeByPlans?: (plans: Plans, input: Static<Input>) => unknown;
  /** The command may create a database that does not exist. */
  readonly makesStore?: true;
  /** What is said to whoever changed something. */
  readonly notice?: (value: Static<Row>, input: Static<Input>) => string;
  readonly buttons?: readonly RecordButton<Static<Row>, Static<Input>>[];
  /** Only the processes of a running gateway know: the command asks its admin API. */
  readonly ofGateway?: true;
}

type InPath<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | InPath<Rest> : never;

/** Members of which only some are always there. */
export type MembersGiven<Members extends TProperties, Always> = TObject<{
  [Name in keyof Members]: Name extends Always ? Members[Name] : TOptional<Members[Name]>;
}>;

/** An operation as it is written. */
interface WrittenOperation<Http extends string, Input extends TProperties, Always, Row extends TSchema> extends Omit<
  AdminOperation<MembersGiven<Input, Always | InPath<Http>>, Row>,
  'http' | 'input' | 'run'
> {
  readonly http: Http & AdminOperation['http'];
  /** The members of the input; there are no others. */
  readonly input: Input;
  /** Those that are not in the path and must be given, or have a default. */
  readonly required?: readonly Always[];
  /** The value, or what was done. */
  readonly run?: (
    context: OperationContext,
    input: Static<MembersGiven<Input, Always | InPath<Http>>>,
    attempt: OperationAttempt,
  ) => Promise<unknown>;
}

/** Ties `columns` and what it does to the schemas. */
export function operation<
  const Http extends string,
  Input extends TProperties,
  Row extends TSchema,
  const Always extends keyof Input = never,
>({ input, required = [], run, ...written }: WrittenOperation<Http, Input, Always, Row>): AdminOperation {
  const always = new Set<string>([...required.map(String), ...inPath(written)]);
  const members = Object.entries(input).map(([name, schema]) => [name, always.has(name) ? schema : Type.Optional(schema)]);
  const made: AdminOperation<MembersGiven<Input, Always | InPath<Http>>, Row> = {
    ...written,
    input: Type.Object(Object.fromEntries(members) as TProperties, { additionalProperties: false }) as unknown as MembersGiven<
      Input,
      Always | InPath<Http>
    >,
    run: run && (async (context, given, attempt = {}) => asDone(await run(context, given, attempt))),
  };
  return made;
}

/** No row has a `kind`. */
function asDone(value: unknown): Done<unknown> {
  return typeof value === 'object' && value !== null && 'kind' in value ? (value as Done<unknown>) : done(value);
}

/** Ends an operation with the refusal. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly refusal: OperationRefusal;

  constructor(refusal: OperationRefusal) {
    super(refusal.named ?? refusal.words);
    this.refusal = refusal;
  }
}

/** What the store has of the record. */
export function found<T>(answer: T | undefined | StoreUnavailable, kind: RecordKind, id: string): Exclude<T, StoreUnavailable> {
  const value = answered(answer);
  if (value === undefined) throw new RefusedError(noSuch(kind, id));
  return value;
}

export function done<T>(value: T, replicated?: boolean, audit?: Done<T>['audit'], warnings?: readonly string[]): Done<T> {
  return { kind: 'done', value, replicated, audit, ...(warnings?.length ? { warnings } : {}) };
}

/** The members that an answer has besides its value. */
export function membersBeside({ replicated, warnings }: Done<unknown>): Pick<Done<unknown>, 'replicated' | 'warnings'> {
  return { ...(replicated === undefined ? {} : { replicated }), ...(warnings === undefined ? {} : { warnings }) };
}

const NOT_REPLICATED =
  'the change is in effect, but no replica of the store has confirmed it within a second: a failover may undo it; check the replicas, and after a failover check whether it is still in effect.';

/** For people: the warning if no replica has the change. */
export function replicatedWarning({ replicated }: Pick<Done<unknown>, 'replicated'>): string | undefined {
  return replicated === false ? NOT_REPLICATED : undefined;
}

export function refused(field: string | undefined, words: string): OperationRefusal {
  return { kind: 'refused', code: 'validation_error', field, words };
}

/** An Idempotency-Key was sent with something else before. */
export const OTHER_REQUEST = refused(undefined, 'Idempotency-Key: was already used for another request; use a new one');

const WHERE = {
  team: '"lingate team list" shows the teams',
  key: '"lingate key list --team TEAM" shows the ids of its keys',
  glossary: '"lingate glossary list --team TEAM" shows the ids of its glossaries',
} as const;

/** A kind of records that have ids. */
export type RecordKind = keyof typeof WHERE;

export function noSuch(kind: RecordKind, id: string): OperationRefusal {
  const named = kind === 'team' ? `there is no team ${id}` : `there is no ${kind} with the id ${id}`;
  return { kind: 'refused', code: 'not_found', words: `there is no ${kind} with this id`, named: `${named}; ${WHERE[kind]}` };
}

/** For what cannot be an id at all. */
export function noId(kind: RecordKind, text: string): OperationRefusal {
  return { ...noSuch(kind, text), named: `${JSON.stringify(text)} is not a ${kind}'s id; ${WHERE[kind]}` };
}

export function methodOf({ http }: AdminOperation): string {
  return http.slice(0, http.indexOf(' '));
}

/** Below the prefix of the API, with `{name}` for what varies. */
export function pathOf({ http }: Pick<AdminOperation, 'http'>): string {
  return http.slice(http.indexOf(' ') + 1);
}

export function changes(one: AdminOperation): boolean {
  return methodOf(one) !== 'GET' && one.looksOnly !== true;
}

/** The members of the input that are in the path, in its order. */
export function inPath(one: Pick<AdminOperation, 'http'>): readonly string[] {
  return [...pathOf(one).matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** Members of its audit line: the team of the path, and what the result adds. */
export function audited(
  one: AdminOperation,
  input: Readonly<Record<string, unknown>>,
  { audit }: Done<unknown>,
): Readonly<Record<string, string | number>> {
  const ofTeam: Record<string, string> = pathOf(one).startsWith('/teams/{id}') ? { team_id: String(input['id']) } : {};
  return { ...ofTeam, ...audit };
}
