// Wrong values for every member of the chart's schema, all in one file for each kind of mistake: helm lists them all at once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART } from './chart-tools.ts';

interface Node {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
}

/** What is wrong, and where: as helm says it, a JSON pointer. */
interface Mistakes {
  readonly values: unknown;
  readonly at: readonly string[];
}

type Mistake = (node: Node) => { readonly value: unknown } | undefined;

const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Node;
export const UNKNOWN = 'unknwon';

/** A value of another type than the member's. */
const otherType: Mistake = ({ type, enum: names, anyOf }) => {
  if (names !== undefined) return { value: 'no such one' };
  if (anyOf !== undefined) return { value: ['neither'] };
  if (type === undefined) return undefined;
  return { value: type === 'string' ? 12_345 : 'another type' };
};
const tooLarge: Mistake = ({ maximum }) => (maximum === undefined ? undefined : { value: maximum + 1 });
const tooSmall: Mistake = ({ minimum }) => (minimum === undefined ? undefined : { value: minimum - 1 });
/** No pattern allows this. */
const otherText: Mistake = ({ type, pattern }) => (type === 'string' && pattern !== undefined ? { value: ' \u0000:@ ' } : undefined);

export const MISTAKES = {
  'another type': () => mistakes(otherType),
  'more than the limit': () => mistakes(tooLarge),
  'less than the limit': () => mistakes(tooSmall),
  'another text': () => mistakes(otherText),
  'a member that does not exist': unknownMembers,
} as const;

function mistakes(mistake: Mistake): Mistakes {
  const at: string[] = [];
  return { values: spoil(SCHEMA, '', mistake, at), at };
}

/** Objects have their members spoilt; a map, one entry; a list, its first item. `undefined` where nothing can be wrong. */
function spoil(written: Node, path: string, mistake: Mistake, at: string[]): unknown {
  const node = resolved(written);
  const members = membersOf(node);
  if (members.length > 0) {
    const spoilt = members.map(([name, member]) => [name, spoil(member, `${path}/${name}`, mistake, at)] as const);
    const wrong = spoilt.filter(([, value]) => value !== undefined);
    return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
  }
  if (node.items !== undefined) {
    const item = spoil(node.items, `${path}/0`, mistake, at);
    return item === undefined ? undefined : [item];
  }
  const wrong = mistake(node);
  if (wrong === undefined) return undefined;
  at.push(path);
  return wrong.value;
}

function resolved(node: Node): Node {
  return node.$ref === undefined ? node : SCHEMA.$defs![node.$ref.replace('#/$defs/', '')]!;
}

/** Without those that are `false`, which nothing can be in. */
function membersOf(node: Node): (readonly [string, Node])[] {
  const properties = Object.entries(node.properties ?? {}).filter(([, member]) => typeof member === 'object');
  if (properties.length > 0) return properties;
  const entry = Object.values(node.patternProperties ?? {})[0] ?? node.additionalProperties;
  return typeof entry === 'object' && Object.keys(entry).length > 0 ? [['anEntry', entry]] : [];
}

function unknownMembers(): Mistakes {
  const at: string[] = [];
  return { values: withUnknown(SCHEMA, '', at), at };
}

function withUnknown(written: Node, path: string, at: string[]): unknown {
  const node = resolved(written);
  const members = membersOf(node);
  if (members.length === 0) return node.items === undefined ? undefined : listed(withUnknown(node.items, `${path}/0`, at));
  const inner = members
    .map(([name, member]) => [name, withUnknown(member, `${path}/${name}`, at)] as const)
    .filter(([, value]) => value !== undefined);
  const isClosed = node.additionalProperties === false;
  if (isClosed) at.push(path);
  return { ...Object.fromEntries(inner), ...(isClosed ? { [UNKNOWN]: 1 } : {}) };
}

function listed(item: unknown): unknown {
  return item === undefined ? undefined : [item];
}
