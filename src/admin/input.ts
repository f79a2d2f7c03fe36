// Reads what is given to an operation, as texts or as JSON, by its schema: the one place that finds
// out what is wrong with it. The words are those of the configuration's faults.
import type { Static, TObject, TSchema } from 'typebox';
import { faultsOf } from '../config/faults.ts';
import { shownWord } from '../domain/json-body.ts';
import { holdsKey } from '../domain/api-key.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { inPath, noId, RefusedError, refused } from './operation.ts';
import type { AdminOperation, RecordKind, OperationRefusal } from './operation.ts';

/** Beyond JSON Schema: how a member is given as text, and its fronts' names. In no document. */
export interface GivenAs {
  /** The flag of the command; by default the member's name with hyphens. */
  readonly flag?: string;
  /** The switch that says false. */
  readonly flagOff?: string;
  /** The switch that removes what is set: by `null` if that clears it, otherwise by `''`. */
  readonly removes?: string;
  /** Of a text: an empty one is valid, and removes what is set. */
  readonly blank?: true;
  /** Of a text, or of a flag and its opposite, where the description is of the member alone. */
  readonly flagWords?: readonly string[];
  /** What stands for the value in help, or for the operand. */
  readonly value?: string;
  /** The label of the field; by default the member's name. */
  readonly label?: string;
  /** What is used without it, as help describes it. */
  readonly fallback?: string;
  /** From a text, or a list's entry. What it cannot read stays, or is refused in better words. */
  readonly fromText?: (text: string, nowMs: number) => unknown;
  /** Attributes of the field. */
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** A flag of the command, and no parameter of the API; or the reverse. */
  readonly only?: 'command' | 'programs';
  /** People may name a team by another word than its id (`matchingTeam`); programs may not. */
  readonly matching?: true;
  /** A key: the command reads it from standard input, if nothing else is given, without a flag. */
  readonly secret?: true;
  /** The command cannot do without it. */
  readonly required?: true;
  /** Of an id. */
  readonly record?: RecordKind;
  /** Words for the values of an enumeration, for people. */
  readonly words?: Readonly<Record<string, string>>;
}

/** A schema's node as fronts see it. */
export interface InputField {
  readonly type?: string;
  readonly items?: InputField;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly maxLength?: number;
  readonly given?: GivenAs;
}

/** Words for a text that cannot be read; they follow the text. */
export class Unreadable {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

export type GivenMembers = Readonly<Record<string, unknown>>;
export type InputFields = ReadonlyMap<string, InputField>;

export function fieldsOf({ input }: Pick<AdminOperation, 'input'>): InputFields {
  return new Map(Object.entries(input.properties));
}

/** The value that texts stand for: what they are is judged later. */
export function valueOf(field: InputField, texts: readonly string[], nowMs: number): unknown {
  if (field.type !== 'array') return single(field, texts[0]!, nowMs);
  const entries = texts.map((text) => single({ ...field.items, given: { ...field.items?.given, ...field.given } }, text, nowMs));
  return entries.find((entry) => entry instanceof Unreadable) ?? entries;
}

function single({ type, given }: InputField, text: string, nowMs: number): unknown {
  if (given?.fromText !== undefined) {
    const read = given.fromText(text, nowMs);
    return read instanceof Unreadable ? new Unreadable(`${JSON.stringify(text)} ${read.words}`) : read;
  }
  if (type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

/** Throws what is wrong with it. A `null` removes what stands there, if that clears it. */
export function checked(operation: AdminOperation, given: GivenMembers, nowMs: number): Static<TObject> {
  const fields = fieldsOf(operation);
  for (const [name, value] of Object.entries(given)) {
    const kind = fields.get(name)?.given?.record;
    if (kind !== undefined && inPath(operation).includes(name) && !matches(operation.input.properties[name]!, value))
      throw new RefusedError(noId(kind, String(value)));
  }
  const cleared = Object.entries(given).filter(([name, value]) => value === null && operation.clears?.includes(name) === true);
  const present = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== undefined && !cleared.some(([other]) => other === name)),
  );
  const input = Default(operation.input, Clone(present)) as Static<TObject>;
  const whole = { ...input, ...Object.fromEntries(cleared) };
  const [first, ...more] = refusalsOf(operation.input, input);
  const refusal = first === undefined ? operation.judge?.(whole, nowMs) : { ...first, more };
  if (refusal !== undefined) throw new RefusedError(refusal);
  return whole;
}

/** The first fault of each member. */
function refusalsOf(schema: TObject, input: GivenMembers): readonly OperationRefusal[] {
  const unreadable = Object.entries(input).flatMap(([name, value]) =>
    value instanceof Unreadable ? [{ path: name, reason: value.words }] : [],
  );
  const found = new Map<string, OperationRefusal>();
  for (const { path, reason } of [...unreadable, ...faultsOf(schema, input)]) {
    const [member = ''] = path.split('.');
    if (found.has(member)) continue;
    found.set(member, refused(path === '' ? 'body' : path, holdsKey(reason) ? 'holds a key, which does not belong here' : reason));
  }
  return [...found.values()];
}

function matches(schema: TSchema, value: unknown): boolean {
  return faultsOf(schema, value).length === 0;
}

/** `words` with the names of members as a front calls them. */
export function wordsWith(words: string, nameOf: (member: string) => string): string {
  return words.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => nameOf(name));
}

/** For a problem document, or above a form: one sentence. */
export function detailOf({ field, words }: OperationRefusal): string {
  const said = wordsWith(words, (name) => name);
  // A place within the input: `limits[1].per`.
  const place = field?.split('.').map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : `${at === 0 ? '' : '.'}${shownWord(part)}`));
  if (place !== undefined) return `${place.join('')}: ${said}.`;
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** A member's name for people: `Requests per second`. */
export function labelOf(name: string, { given }: InputField): string {
  const label = given?.label ?? name.replaceAll('_', ' ');
  return label.charAt(0).toUpperCase() + label.slice(1);
}
