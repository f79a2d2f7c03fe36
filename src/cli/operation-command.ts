// A command from an operation: its flags and operands, its help, how it reads them, what it asks, and what it prints.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checked, fieldsOf, labelOf, valueOf, wordsWith } from '../admin/input.ts';
import type { InputField, InputFields, GivenMembers } from '../admin/input.ts';
import { csvOf } from '../admin/csv.ts';
import { allRows } from '../admin/listing.ts';
import type { OperationContext } from '../admin/operation-context.ts';
import { changes, inPath, noId, pathOf } from '../admin/operation.ts';
import type { AskedBefore, Cell, AdminOperation, OperationRefusal } from '../admin/operation.ts';
import { matchingTeam } from '../admin/matching-teams.ts';
import { rfc3339 } from '../domain/period.ts';
import { storeErrorOf } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { Command, CommandContext, Flag, Flags } from './command.ts';
import { confirm, requireConfirmable, YES, YES_COSTLIER } from './confirmation.ts';
import { GATEWAY_FLAGS, runningGateway } from './running-gateway.ts';
import { Progress } from './progress.ts';
import { GrowingTable, labelled, textTable } from './text-table.ts';
import { doneFrom, flagOf, printChange, valueFrom, withAdmin } from './with-store.ts';

/** Where each flag of a command belongs: the member, and the value that a switch stands for. */
interface FlagOf {
  readonly member: string;
  readonly field: InputField;
  readonly means?: boolean | null | '';
}

export function commandOf(one: AdminOperation): Command {
  const fields = new Map([...fieldsOf(one)].filter(([, { given }]) => given?.only !== 'programs'));
  const operands = inPath(one).filter((name) => fields.get(name)?.given?.flag === undefined);
  const given = [...fields].filter(([name]) => !operands.includes(name));
  const flagsOf = new Map(given.flatMap(([name, field]) => flagsFor(name, field, one)));
  const flags = Object.fromEntries([...flagsOf].map(([name, of]) => [name, flagFor(of, one)]));
  const names = operands.map((name) => fields.get(name)!.given?.value ?? name.toUpperCase());
  const yes: Flags = one.asks === undefined ? {} : { yes: one.asking === undefined ? YES_COSTLIER : YES };
  const more = {
    ...(one.listing?.file && { csv: CSV }),
    ...yes,
    ...(one.ofGateway === true ? GATEWAY_FLAGS : {}),
  };
  return {
    usage: usageOf(names, Object.entries({ ...flags, ...yes })),
    about: one.about,
    operands: names,
    ...(flagsOf.size === 0 && one.asks === undefined ? {} : { flags: { ...flags, ...more } }),
    makesStore: one.makesStore,
    examples: one.examples ?? [],
    async run(context) {
      if (context.json && context.on('csv')) throw new UsageError('--csv and --json exclude each other; give one of them');
      const sent = readGiven(context, operands, flagsOf, fields);
      if (one.needs?.every((name) => !(name in sent.members)) === true)
        throw new UsageError(`one of ${one.needs.map((name) => `--${name}`).join(', ')} is missing`);
      const members = await withTeamIds(sent.members, fields, context);
      const read = checked(one, members, context.io.nowMs());
      if ('kind' in read) throw wrong(read, one, sent);
      if (one.asking !== undefined) requireConfirmable(context, one.asking);
      if (one.ofGateway === true) return printOfGateway(one, context, read.input);
      if (one.judgeByPlans !== undefined) {
        const refusal = one.judgeByPlans((await context.config()).plans, read.input);
        if (refusal !== undefined) valueFrom(refusal, fields);
      }
      await withAdmin(context, async (on) => runOn(one, on, context, read.input));
    },
  };
}

/** What is replaced as a whole needs no flags that remove a part of it. */
function flagsFor(name: string, field: InputField, one: AdminOperation): (readonly [string, FlagOf])[] {
  const { clears = [] } = one;
  const flag = field.given?.flag ?? name.replaceAll('_', '-');
  const of = { member: name, field };
  return [
    [flag, field.type === 'boolean' ? { ...of, means: true } : of],
    ...(field.given?.flagOff === undefined ? [] : [[field.given.flagOff, { ...of, means: false }] as const]),
    ...(field.given?.removes === undefined || !one.http.startsWith('PATCH ')
      ? []
      : [[field.given.removes, { ...of, means: clears.includes(name) ? null : ('' as const) }] as const]),
  ];
}

function flagFor({ member, field, means }: FlagOf, { input }: AdminOperation): Flag {
  const { type, given = {}, description = '', enum: choices } = field;
  const summary = [lower(description).replace(/\.$/, ''), ...(type === 'array' ? ['may be repeated'] : [])].join('; ');
  if (means === null || means === '') return { kind: 'switch', summary: `remove the ${labelOf(member, field).toLowerCase()}` };
  if (type === 'boolean') return { kind: 'switch', summary };
  // A schema without a required member has no such list.
  const { required: all = [] } = input as { readonly required?: readonly string[] };
  const required = (all.includes(member) && field.default === undefined) || given.required === true;
  return {
    kind: type === 'array' ? 'texts' : 'text',
    value: given.value ?? choices?.join('|') ?? 'N',
    summary: choices === undefined || given.value === undefined ? summary : `${summary}: ${choices.join(', ')}`,
    fallback: given.fallback,
    ...(required ? { required } : {}),
  };
}

/** A sentence as a part of a line. */
function lower(sentence: string): string {
  return /^[A-Z][a-z ]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}

const USAGE_LENGTH_MAX = 90;

/** All flags if they are few, otherwise those that are required. */
function usageOf(operands: readonly string[], flags: readonly (readonly [string, Flag])[]): string {
  const all = [...operands, ...flags.map(usedAs)].join(' ');
  if (all.length <= USAGE_LENGTH_MAX) return all;
  return [...operands, ...flags.filter(([, { required = false }]) => required).map(usedAs)].join(' ');
}

function usedAs([name, { value, kind, required = false }]: readonly [string, Flag]): string {
  const flag = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return `${required ? flag : `[${flag}]`}${kind === 'texts' ? '…' : ''}`;
}

interface Sent {
  readonly members: GivenMembers;
  /** As they were typed, for messages. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

function readGiven(context: CommandContext, operands: readonly string[], flagsOf: ReadonlyMap<string, FlagOf>, fields: InputFields): Sent {
  const members: Record<string, unknown> = {};
  const texts = new Map(operands.map((name, index) => [name, [context.operands[index]!]]));
  for (const [flag, { member, means }] of flagsOf) {
    const given = context.texts(flag);
    if (given === undefined) continue;
    if (member in members || texts.has(member)) {
      const other = [...flagsOf].find(([name, of]) => of.member === member && name !== flag && context.on(name))![0];
      throw new UsageError(`--${other} and --${flag} contradict each other; give one of them`);
    }
    if (means === undefined) texts.set(member, [...given]);
    else members[member] = means;
  }
  for (const [member, sent] of texts) members[member] = valueOf(fields.get(member)!, sent, context.io.nowMs());
  return { members, texts, operands };
}

/** With ids in place of other words for teams, which are looked up in the store. */
async function withTeamIds(members: GivenMembers, fields: InputFields, context: CommandContext): Promise<GivenMembers> {
  const found: Record<string, unknown> = { ...members };
  for (const [name, word] of Object.entries(members)) {
    if (fields.get(name)?.given?.matching !== true || canonicalUlid(String(word)) !== undefined) continue;
    await withAdmin(context, async (on) => {
      const team = await matchingTeam(on, String(word));
      if ('kind' in team) throw team.kind === 'unavailable' ? storeErrorOf(team) : new CommandFailure(team.words);
      found[name] = team.teamId;
    });
  }
  return found;
}

/** Names the flag, and its value where the words do not. */
function wrong(fault: OperationRefusal, one: AdminOperation, { texts, operands }: Sent): Error {
  if (fault.code === 'not_found') return new CommandFailure(fault.named ?? fault.words);
  const fields = fieldsOf(one);
  const [member = '', at] = (fault.field ?? '').split('.');
  const words = wordsWith(fault.words, (name) => `--${flagOf(name, fields)}`);
  if (member === '' || member === 'body') return new UsageError(words);
  const name = operands.includes(member) ? fields.get(member)!.given?.value : `--${flagOf(member, fields)}`;
  const kind = fields.get(member)?.given?.record;
  if (kind !== undefined && texts.has(member)) return new CommandFailure(noId(kind, texts.get(member)![0]!).named);
  const given = at === undefined ? undefined : texts.get(member)?.[Number(at)];
  return new UsageError(
    [name, given === undefined || words.startsWith('"') ? undefined : JSON.stringify(given), words].filter(Boolean).join(' '),
  );
}

async function runOn(one: AdminOperation, on: OperationContext, context: CommandContext, input: GivenMembers): Promise<void> {
  const fields = fieldsOf(one);
  if (one.listing !== undefined) {
    return printPieces(one, context, on, input);
  }
  const asked = one.asks === undefined || context.on('yes') ? undefined : valueFrom(await one.asks(on, input as never), fields);
  if (asked !== undefined) await confirmed(one, asked, context);
  const given = 'confirm' in one.input.properties ? { ...input, confirm: true } : input;
  const made = doneFrom(await one.run!(on, given, { onProgress: progressOf(context) }), fields);
  const { value } = made;
  if (one.list !== undefined) return printRows(one, context, value as readonly unknown[]);
  const said = textOf(one, value, input, context.io.nowMs());
  if (changes(one)) printChange(context, made, value as object, said);
  else context.print(value, () => said);
}

/** Who cannot be asked is refused: a script that lost its terminal must not change what a person would have been asked about. */
async function confirmed(one: AdminOperation, asked: AskedBefore, context: CommandContext): Promise<void> {
  if (!context.io.asks) {
    const otherwise = one.instead === undefined ? '' : `, or ${wordsWith(one.instead, (name) => `--${flagOf(name, fieldsOf(one))}`)}`;
    throw new UsageError(`nothing was changed: ${lower(asked.does).replace(/\.$/, '')}; use --yes as well${otherwise}`);
  }
  await confirm(context, asked);
}

/** At a terminal. */
function progressOf({ io }: CommandContext): (changed: number, all: number) => void {
  return (changed, all) => {
    if (io.watched) io.err(`\r${changed} of ${all} teams${changed === all ? '\n' : ''}`);
  };
}

/** What was done, the record as it is now, and what is below it. */
function textOf(one: AdminOperation, value: unknown, input: GivenMembers, nowMs: number): string {
  const columns = shownBy(one).map(({ head, cell }) => [head.toLowerCase(), shown(cell(value as never, nowMs), nowMs)] as const);
  const facts = one.facts?.(value) ?? Object.fromEntries(columns);
  const said = changes(one) ? one.told?.(value, input) : undefined;
  const below = one.below?.rows(value, nowMs).map((row) => row.map((cell) => shown(cell, nowMs))) ?? [];
  return [
    said,
    Object.keys(facts).length === 0 ? undefined : labelled(facts),
    below.length === 0 ? one.below?.none : textTable(headsOf(one.below!.heads), below),
  ]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

function headsOf(heads: readonly string[]): string[] {
  return heads.map((head) => head.toUpperCase());
}

function shownBy({ columns }: AdminOperation): AdminOperation['columns'] {
  return columns.filter(({ only }) => only !== 'console');
}

const CSV: Flag = { kind: 'switch', summary: 'write CSV with a header line' };

/** Rows as they are read, so that their number does not matter. */
interface RowWriter {
  readonly head: string;
  lines(rows: readonly unknown[]): string;
  /** `isEmpty`: no rows were written. */
  end(isEmpty: boolean, missing: readonly string[]): string;
}

function writerFor(one: AdminOperation, context: CommandContext, input: GivenMembers): RowWriter {
  const { io, json } = context;
  const { file } = one.listing!;
  if (json) {
    let separator = '\n';
    return {
      head: `{"${one.list}":[`,
      lines(rows) {
        const text = separator + rows.map((row) => JSON.stringify(row)).join(',\n');
        separator = ',\n';
        return text;
      },
      end: (_isEmpty, missing) => `\n]${missing.length > 0 ? `,"${one.listing!.missing!.member}":${missing.length}` : ''}}\n`,
    };
  }
  if (file !== undefined && context.on('csv')) return { ...csvOf(file.columns(input)), end: () => '' };
  const columns = shownBy(one).filter(({ when }) => when?.(input as never) !== false);
  const table = new GrowingTable(
    columns.map(({ head }) => head.toUpperCase()),
    columns.map(({ holds }) => holds === 'figures'),
  );
  const totals = file?.totals?.();
  return {
    head: '',
    lines(rows) {
      totals?.add(rows);
      return table.lines(rows.map((row) => columns.map(({ cell }) => shown(cell(row as never, io.nowMs()), io.nowMs()))));
    },
    end: (isEmpty) => (isEmpty ? `${one.none}\n` : (totals?.text() ?? '')),
  };
}

async function printPieces(one: AdminOperation, context: CommandContext, on: OperationContext, input: GivenMembers): Promise<void> {
  const { io } = context;
  const writer = writerFor(one, context, input);
  const progress = new Progress(io, context.name);
  let [began, isEmpty] = [false, true];
  const missing: string[] = [];
  try {
    for await (const piece of one.listing!.file?.walk(on, input) ?? allRows(one.listing as never, on, input)) {
      const { rows, teams, missing: toCome = [] } = valueFrom(piece, fieldsOf(one));
      missing.push(...toCome);
      // Not before the first result: if nothing can be read, standard output stays empty.
      if (!began) io.out(writer.head);
      began = true;
      if (rows.length > 0) io.out(writer.lines(rows));
      isEmpty = isEmpty && rows.length === 0;
      progress.show(teams);
      // Whether the reader has closed the output is only known a moment after writing.
      await nextTurn();
      if (io.abandoned()) return;
    }
  } finally {
    progress.end();
  }
  io.out((began ? '' : writer.head) + writer.end(isEmpty, missing));
  if (missing.length > 0) io.err(`lingate ${context.name}: warning: ${one.listing!.missing!.words(missing)}\n`);
}

function cellsOf(one: AdminOperation, row: unknown, nowMs: number): string[] {
  return shownBy(one).map(({ cell }) => shown(cell(row as never, nowMs), nowMs));
}

export function printRows(one: AdminOperation, context: CommandContext, rows: readonly unknown[]): void {
  context.print({ [one.list!]: rows }, () => {
    if (rows.length === 0) return one.none ?? 'There are none.';
    return textTable(
      shownBy(one).map(({ head }) => head.toUpperCase()),
      rows.map((row) => cellsOf(one, row, context.io.nowMs())),
    );
  });
}

function shown(cell: Cell, nowMs: number): string {
  if (cell === undefined) return '-';
  if (typeof cell !== 'object') return String(cell);
  switch (cell.kind) {
    case 'moment':
    case 'day':
      return cell.at;
    case 'ago':
      return usedText(cell.at === null ? undefined : Date.parse(cell.at), nowMs);
    case 'team':
      return cell.name ?? cell.id;
    case 'key':
      return cell.label || cell.id;
    case 'bytes':
      return String(cell.bytes);
    case 'status':
      return cell.status;
    case 'word':
      return cell.word;
    case 'changes':
      return changesText(cell);
    case 'code':
    case 'path':
      return cell.text;
  }
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago (…)`: with the exact time, because a rotation waits until it stops changing. */
export function usedText(atMs: number | undefined, nowMs: number): string {
  if (atMs === undefined) return 'never';
  const elapsed = nowMs - atMs;
  // A time in the future, because of a slow clock, counts as now.
  const [unit, lengthMs] = UNITS.find(([, one]) => elapsed >= one) ?? ['', 1];
  const number = Math.floor(elapsed / lengthMs);
  const ago = unit === '' ? 'just now' : `${number} ${unit}${number === 1 ? '' : 's'} ago`;
  return `${ago} (${rfc3339(atMs)})`;
}

/** `balance_minor 700 -> 200, reason "…"`. */
function changesText({ before, after }: Extract<Cell, { kind: 'changes' }>): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const members = names.map((name) => {
    const [was, is] = [before[name], after[name]].map((value) => (value === undefined ? undefined : JSON.stringify(value)));
    return was === undefined ? `${name} ${is}` : `${name} ${was} -> ${is ?? 'none'}`;
  });
  return members.join(', ');
}

/** All pages of its answer. */
async function printOfGateway(one: AdminOperation, context: CommandContext, members: GivenMembers): Promise<void> {
  const gateway = await runningGateway(context, await context.config());
  const query = new URLSearchParams({ limit: '200' });
  for (const [name, value] of Object.entries(members)) query.set(name, String(value));
  const rows: unknown[] = [];
  for (let next: string | null = ''; next !== null;) {
    if (next !== '') query.set('cursor', next);
    const page = (await gateway.get(`${pathOf(one)}?${query.toString()}`)) as Readonly<Record<string, unknown>>;
    rows.push(...(page[one.list!] as readonly unknown[]));
    next = page['next'] as string | null;
  }
  printRows(one, context, rows);
}
