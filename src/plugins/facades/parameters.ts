// A vendor's parameters, described once: for reading, the API reference and the manual's table.
import Type from 'typebox';
import type { TSchema } from 'typebox';
import type { Refusal } from 'lingate';
import type { QueryDoc } from './reference.ts';

/** What was read, or the refusal. Never a value of a caller as it came: that could look like one. */
export type Judged<T> = T | Refusal;

export function isRefusal(judged: unknown): judged is Refusal {
  return typeof judged === 'object' && judged !== null && 'problem' in judged;
}

/** What the reference and the manual say about a parameter. */
export interface ParameterDoc {
  /** As the vendor spells it. */
  readonly name: string;
  /** `refused`: a 400 that names it. `nothing`: no effect. If absent, it is served as the vendor does. */
  readonly does?: 'refused' | 'nothing';
  /** One or two sentences: what it does here, and which values there are. */
  readonly about: string;
  /** Of its value; a string if absent. Not for a parameter with `fields`. */
  readonly schema?: TSchema;
  readonly example?: unknown;
  /** The refusal of a request without it. `named` has its place, as `inputs[0].text`. */
  readonly missing?: (named: string) => Refusal;
  /** For texts: an empty one, or a list of empty ones, is a value like others. */
  readonly mayBeEmpty?: true;
  /** Accepted values of a `refused` one, in any case: they ask for nothing. */
  readonly but?: readonly string[];
  /** The members of its value, an object; or with `entriesMax` of each entry of its list. */
  readonly fields?: Described;
  readonly entriesMax?: number;
}

/** As the reference and the manual need them; the rules between them are left out. */
export type Described = readonly (ParameterDoc | { readonly check: unknown })[];

/** In our terms: `means` is the order's member, `read` returns its value or refuses it. */
type Served<Order, Rules> = {
  readonly [Member in keyof Order]: ParameterDoc & {
    readonly does?: undefined;
    readonly means: Member;
    /** Only called for a value that is given. `order` has what the parameters before it mean. */
    readonly read: (value: unknown, named: string, order: Order, rules: Rules) => Judged<Order[Member]>;
  };
}[keyof Order];

interface Refused extends ParameterDoc {
  readonly does: 'refused';
  readonly refusal: (named: string) => Refusal;
}

interface WithoutEffect<Rules> extends ParameterDoc {
  readonly does: 'nothing';
  /** Finds mistakes in a value that has no effect: a refusal is one. By default any value is fine. */
  readonly judge?: (value: unknown, named: string, rules: Rules) => unknown;
}

/**
 * A parameter of a vendor's operation. A list of them describes the operation, in the order in which they are checked:
 *
 * @example
 * const PARAMETERS: readonly ParameterEntry<Order, Rules>[] = [
 *   { name: 'to', means: 'targetLang', about: 'The code of the target.', missing: () => NO_TARGET,
 *     read: (value, _named, _order, { languages }) => languages.target(value) ?? NO_TARGET },
 *   { check: ({ targetLang }, { languages }) => pairFault(targetLang, languages) },
 *   { name: 'model', does: 'nothing', about: '`nmt`; has no effect.', judge: (value, named) => oneOf(value, named, ['nmt']) },
 *   { name: 'alignment', does: 'refused', but: ['false'], about: '`false`; others are refused.', refusal: (named) => notHere(named) },
 * ];
 *
 * `readAll(PARAMETERS, members, order, rules)` reads a request with them, `queryDocs` and `objectSchema` document them, and
 * `src/manual.ts` lists the description for the manual's table.
 *
 * `Order` is what a request means in our terms, complete before the first parameter is read. `Rules` is
 * what else the reading depends on, such as the languages and what the engine can do.
 */
type Parameter<Order, Rules> = Served<Order, Rules> | Refused | WithoutEffect<Rules>;

/** A rule about several parameters, at its place among the others. */
interface Check<Order, Rules> {
  /** `at` comes before the names of parameters in its refusal. */
  readonly check: (order: Order, rules: Rules, at: string) => Refusal | undefined;
}

export type ParameterEntry<Order, Rules> = Parameter<Order, Rules> | Check<Order, Rules>;

/** The values of a request by name. */
interface Values {
  get(name: string): unknown;
}

/** Puts the parameters into `order`, up to the first refusal. `at` precedes their names. */
export function readAll<Order extends object, Rules>(
  entries: readonly ParameterEntry<Order, Rules>[],
  values: Values,
  order: Order,
  rules: Rules,
  at = '',
): Refusal | undefined {
  for (const entry of entries) {
    const refusal =
      'check' in entry ? entry.check(order, rules, at) : readOne(entry, values.get(entry.name), order, rules, at + entry.name);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The objects of a list, each read with the parameters; `named` is the list. */
export function readEach<Order extends object, Rules>(
  entries: readonly ParameterEntry<Order, Rules>[],
  list: readonly unknown[],
  nothing: Order,
  rules: Rules,
  named: string,
  notObject: (named: string) => Refusal,
): Judged<readonly Order[]> {
  const orders: Order[] = [];
  for (const [index, one] of list.entries()) {
    const at = `${named}[${index}]`;
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return notObject(at);
    const order = { ...nothing };
    const refusal = readAll(entries, one instanceof Map ? (one as Values) : new Map(Object.entries(one)), order, rules, `${at}.`);
    if (refusal !== undefined) return refusal;
    orders.push(order);
  }
  return orders;
}

function readOne<Order extends object, Rules>(
  parameter: Parameter<Order, Rules>,
  value: unknown,
  order: Order,
  rules: Rules,
  named: string,
): Refusal | undefined {
  const isAbsent = parameter.mayBeEmpty === true ? value === undefined || value === null : !isGiven(value);
  if (isAbsent) return parameter.missing?.(named);
  if (parameter.does === 'refused') return isAccepted(value, parameter.but) ? undefined : parameter.refusal(named);
  const judged = parameter.does === 'nothing' ? parameter.judge?.(value, named, rules) : parameter.read(value, named, order, rules);
  if (isRefusal(judged)) return judged;
  if (parameter.does === undefined) order[parameter.means] = judged as Order[keyof Order];
  return undefined;
}

/** Unused parameters come as null, empty texts, lists or objects, or lists of empty texts. */
function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.some((one) => one !== '');
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function isAccepted(value: unknown, but: readonly string[] = []): boolean {
  const word = typeof value === 'boolean' || typeof value === 'number' ? String(value) : value;
  return typeof word === 'string' && but.some((one) => one.toLowerCase() === word.toLowerCase());
}

/** The parameters without the rules between them. */
export function parametersIn(entries: Described): readonly ParameterDoc[] {
  return entries.filter((entry): entry is ParameterDoc => !('check' in entry));
}

/** Those in the reference: one that is always refused is only in the manual. */
function documentedIn(entries: Described): readonly ParameterDoc[] {
  return parametersIn(entries).filter(({ does, but }) => does !== 'refused' || but !== undefined);
}

/** The parameters as those of a query. */
export function queryDocs(entries: Described): readonly QueryDoc[] {
  return documentedIn(entries).map(({ name, about: description, schema = Type.String(), missing, example }) => ({
    name,
    description,
    schema,
    required: missing === undefined ? undefined : true,
    example,
  }));
}

/** The parameters as the members of an object. */
export function objectSchema(entries: Described, options: Readonly<Record<string, unknown>> = {}): TSchema {
  const members = documentedIn(entries).map(
    (one) => [one.name, one.missing === undefined ? Type.Optional(schemaOf(one)) : schemaOf(one)] as const,
  );
  return Type.Object(Object.fromEntries(members), options);
}

/** The parameters of a body: its members, or one named `[]` for a body that is a list. */
export function bodySchema(entries: Described): TSchema {
  const [list] = parametersIn(entries);
  return list?.name === '[]' ? schemaOf(list) : objectSchema(entries);
}

function schemaOf({ about, schema, fields, entriesMax }: ParameterDoc): TSchema {
  if (fields === undefined) return { ...(schema ?? Type.String()), description: about };
  return entriesMax === undefined
    ? objectSchema(fields, { description: about })
    : Type.Array(objectSchema(fields), { minItems: 1, maxItems: entriesMax, description: about });
}
