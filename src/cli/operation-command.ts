// A command from an operation: flags and operands, help, reading, questions, and what it prints.
import { checked, fieldsOf, valueOf, wordsWith } from '../admin/input.ts';
import type { InputField, InputFields, GivenMembers } from '../admin/input.ts';
import { allRows } from '../admin/listing.ts';
import type { RowPart } from '../admin/listing.ts';
import type { OperationContext } from '../admin/operation-context.ts';
import { changes, inPath, noId, pathOf, RefusedError } from '../admin/operation.ts';
import type { AskedBefore, AdminOperation } from '../admin/operation.ts';
import { matchingTeam } from '../admin/operations/team-search.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { Command, CommandContext, Flag, Flags } from './command.ts';
import { confirm, readKey, requireConfirmable, YES, YES_COSTLIER } from './asked.ts';
import { askGateway, GATEWAY_FLAGS } from './running-gateway.ts';
import { printList, recordText } from './printed.ts';
import { printChange, withAdmin } from './with-store.ts';

/** A flag of a member, and for a switch the value that it stands for. */
interface MemberFlag extends Flag {
  readonly member: string;
  readonly means?: boolean | null | '';
}

export function commandOf(one: AdminOperation, name: string): Command {
  const fields = new Map([...fieldsOf(one)].filter(([, { given }]) => given?.only !== 'programs'));
  const operands = inPath(one).filter((member) => fields.get(member)?.given?.flag === undefined);
  const [secret] = [...fields].find(([, { given: as }]) => as?.secret === true) ?? [];
  const flags = Object.fromEntries(
    [...fields].flatMap(([member, field]) => (operands.includes(member) || member === secret ? [] : flagsFor(member, field, one))),
  );
  const more: Flags = {
    ...(one.listing?.file && { csv: CSV }),
    ...(one.asks && { yes: one.asking === undefined ? YES_COSTLIER : YES }),
    ...(one.ofGateway === true ? GATEWAY_FLAGS : {}),
  };
  return {
    name,
    summary: one.summary,
    about: one.about,
    operands: operands.map((member) => fields.get(member)!.given?.value ?? member.toUpperCase()),
    flags: { ...flags, ...more },
    makesStore: one.makesStore,
    examples: one.examples ?? [],
    async run(context) {
      if (context.json && context.on('csv')) throw new UsageError('--csv and --json exclude each other; give one of them');
      const sent = readGiven(context, operands, flags, fields);
      if (one.needs?.every((member) => !(member in sent.members)) === true)
        throw new UsageError(`one of ${one.needs.map((member) => `--${member}`).join(', ')} is missing`);
      const typedIn = secret === undefined || sent.texts.size > 0 ? {} : { [secret]: await readKey(context) };
      const members = await withTeamIds({ ...sent.members, ...typedIn }, fields, context);
      const input = checkedInput(one, members, sent, context.io.nowMs());
      if (one.asking !== undefined) requireConfirmable(context, one.asking);
      if (one.ofGateway === true) return printList(one, context, input, rowsOfGateway(one, context, input));
      try {
        one.judgeByPlans?.((await context.config()).plans, input);
        await withAdmin(context, (on) => runOn(one, on, context, input));
      } catch (error) {
        throw error instanceof RefusedError ? new CommandFailure(flagWords(error.message, fields)) : error;
      }
    },
  };
}

/** What is wrong with it is a wrong use of the command, unless it is an id. */
function checkedInput(one: AdminOperation, members: GivenMembers, sent: Sent, nowMs: number): GivenMembers {
  try {
    return checked(one, members, nowMs);
  } catch (error) {
    throw error instanceof RefusedError ? wrong(error, one, sent) : error;
  }
}

/** Its own, the switch for the opposite, and the one that removes what is set: what is replaced as a whole needs none. */
function flagsFor(member: string, field: InputField, { input, http, clears = [] }: AdminOperation): (readonly [string, MemberFlag])[] {
  const { type, given = {}, description = '', enum: choices } = field;
  const { flagOff, removes } = given;
  const flag = given.flag ?? dashed(member);
  const words = (at: 0 | 1): string => lower(given.flagWords?.[at] ?? description).replace(/\.$/, '');
  const all: (readonly [string, MemberFlag])[] = [];
  if (type === 'boolean') all.push([flag, { member, means: true, summary: words(0) }]);
  else {
    // A schema without a required member has no such list.
    const { required = [] } = input as { readonly required?: readonly string[] };
    const summary = type === 'array' ? `${words(0)}; may be repeated` : words(0);
    all.push([
      flag,
      {
        member,
        value: given.value ?? choices?.join('|') ?? 'N',
        many: type === 'array',
        summary: choices === undefined || given.value === undefined ? summary : `${summary}: ${choices.join(', ')}`,
        fallback: given.fallback,
        required: (required.includes(member) && field.default === undefined) || given.required === true,
      },
    ]);
  }
  if (flagOff !== undefined) all.push([flagOff, { member, means: false, summary: words(1) }]);
  if (removes !== undefined && http.startsWith('PATCH '))
    all.push([removes, { member, means: clears.includes(member) ? null : '', summary: `remove what --${flag} has set` }]);
  return all;
}

function dashed(member: string): string {
  return member.replaceAll('_', '-');
}

/** A sentence as a part of a line. */
function lower(sentence: string): string {
  return /^[A-Z][a-z ]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}

interface Sent {
  readonly members: GivenMembers;
  /** As they were typed, for messages. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

function readGiven(
  context: CommandContext,
  operands: readonly string[],
  flags: Readonly<Record<string, MemberFlag>>,
  fields: InputFields,
): Sent {
  const members: Record<string, unknown> = {};
  const texts = new Map(operands.map((name, index) => [name, [context.operands[index]!]]));
  for (const [flag, { member, means }] of Object.entries(flags)) {
    const given = context.texts(flag);
    if (given === undefined) continue;
    if (member in members || texts.has(member)) {
      const other = Object.keys(flags).find((name) => flags[name]!.member === member && name !== flag && context.on(name))!;
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
    await withAdmin(context, async (on) => void (found[name] = await matchingTeam(on, String(word))));
  }
  return found;
}

/** Names the flag, and its value where the words do not. */
function wrong({ message, refusal }: RefusedError, one: AdminOperation, { texts, operands }: Sent): Error {
  if (refusal.code === 'not_found') return new CommandFailure(message);
  const fields = fieldsOf(one);
  const [member = '', at] = (refusal.field ?? '').split('.');
  const words = flagWords(refusal.words, fields);
  if (member === '' || member === 'body') return new UsageError(words);
  const given = fields.get(member)?.given;
  const text = texts.get(member)?.[Number(at ?? 0)];
  if (given?.record !== undefined && text !== undefined) return new CommandFailure(noId(given.record, text).named);
  const name = operands.includes(member) ? given?.value : `--${flagOf(member, fields)}`;
  // Of a list the words are about one entry.
  const which = at === undefined || text === undefined || words.startsWith('"') ? undefined : JSON.stringify(text);
  return new UsageError([name, which, words].filter(Boolean).join(' '));
}

function flagWords(words: string, fields: InputFields): string {
  return wordsWith(words, (name) => `--${flagOf(name, fields)}`);
}

function flagOf(member: string, fields: InputFields): string {
  return fields.get(member)?.given?.flag ?? dashed(member);
}

async function runOn(one: AdminOperation, on: OperationContext, context: CommandContext, input: GivenMembers): Promise<void> {
  if (one.listing !== undefined) return printList(one, context, input, allRows(one, on, input));
  const asked = context.on('yes') ? undefined : await one.asks?.(on, input);
  if (asked !== undefined) await confirmed(one, asked, context);
  const given = 'confirm' in one.input.properties ? { ...input, confirm: true } : input;
  const made = await one.run!(on, given, { onProgress: progressOf(context) });
  const { value } = made;
  if (one.list !== undefined) return printList(one, context, input, onePart(value as readonly unknown[]));
  const record = (): string => recordText(one, value, context.io.nowMs());
  if (!changes(one)) return context.print(value, record);
  printChange(context, made, value as object, [one.notice?.(value, input), record()].filter(Boolean).join('\n\n'));
}

/** Rows that were read at once. */
function onePart(rows: readonly unknown[]): readonly RowPart[] {
  return [{ rows, checked: 0, missing: [] }];
}

/** A script that lost its terminal must not change what a person would be asked about. */
async function confirmed(one: AdminOperation, asked: AskedBefore, context: CommandContext): Promise<void> {
  if (context.io.asks) return confirm(context, asked);
  const otherwise = one.instead === undefined ? '' : `, or ${flagWords(one.instead, fieldsOf(one))}`;
  throw new UsageError(`nothing was changed: ${lower(asked.does).replace(/\.$/, '')}; use --yes as well${otherwise}`);
}

/** At a terminal. */
function progressOf({ io }: CommandContext): (changed: number, all: number) => void {
  return (changed, all) => {
    if (io.watched) io.err(`\r${changed} of ${all} teams${changed === all ? '\n' : ''}`);
  };
}

const CSV: Flag = { summary: 'write CSV with a header line' };

/** All pages of its answer. */
async function* rowsOfGateway(one: AdminOperation, context: CommandContext, members: GivenMembers): AsyncGenerator<RowPart, void, void> {
  const config = await context.config();
  const query = new URLSearchParams({ limit: '200' });
  for (const [name, value] of Object.entries(members)) query.set(name, String(value));
  for (let next: string | null = ''; next !== null;) {
    if (next !== '') query.set('cursor', next);
    const page = (await askGateway(context, config, `${pathOf(one)}?${query.toString()}`)) as Readonly<Record<string, unknown>>;
    yield* onePart(page[one.list!] as readonly unknown[]);
    next = page['next'] as string | null;
  }
}
