// Parses a command's arguments. A wrong one is reported in one line that says what would be right.
import { parseArgs } from 'node:util';
import { nearest } from '../config/nearest.ts';
import { COMMON_FLAGS, UsageError } from './command.ts';
import type { Command, Flag, Flags } from './command.ts';

export interface Arguments {
  readonly operands: readonly string[];
  /** The values of every flag that was given; a switch has an empty list. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

type Token = ReturnType<typeof tokensOf>[number];
type OptionToken = Extract<Token, { kind: 'option' }>;

/** Throws a `UsageError`. */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS };
  const operands: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokensOf(argv, flags)) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind === 'option') take(token, flags, values);
  }
  const { operands: named = [], insteadOfOperands = [] } = command;
  const expected = insteadOfOperands.some((name) => values.has(name)) ? [] : named;
  if (operands.length < expected.length) throw new UsageError(`${expected[operands.length]} is missing`);
  const surplus = operands[expected.length];
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)} is one argument too many; ${capacity(expected)}`);
  const missing = Object.keys(flags).find((name) => flags[name]!.required === true && !values.has(name));
  if (missing !== undefined) throw new UsageError(`${written(missing, flags[missing]!)} is missing`);
  return { operands, values };
}

/** Not in the parser's strict mode, whose messages do not say what was intended; `take` checks the arguments instead. */
function tokensOf(argv: readonly string[], flags: Flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { kind }]) => [name, { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) }]),
  );
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function take(token: OptionToken, flags: Flags, values: Map<string, string[]>): void {
  const { name, rawName, value, inlineValue } = token;
  const flag = Object.hasOwn(flags, name) && rawName.startsWith('--') ? flags[name]! : undefined;
  if (flag === undefined) throw new UsageError(`unknown flag ${rawName}${suggestion(name, flags)}`);
  const given = values.get(name);
  if (given !== undefined && flag.kind !== 'texts') throw new UsageError(`${rawName} is given twice`);
  if (flag.kind === 'switch') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    values.set(name, []);
    return;
  }
  if (value === undefined || value === '') throw new UsageError(`${rawName} needs a value; write ${written(name, flag)}`);
  // No flag starts with a digit, so this can only be a negative number.
  if (!inlineValue && value.startsWith('-') && !/^-\d/.test(value)) {
    throw new UsageError(`${rawName} needs a value; write one that begins with a dash as ${rawName}=${value}`);
  }
  if (flag.choices?.includes(value) === false)
    throw new UsageError(`${rawName}: ${JSON.stringify(value)} is not one of ${flag.choices.join(', ')}`);
  values.set(name, [...(given ?? []), value]);
}

function suggestion(name: string, flags: Flags): string {
  const nearby = nearest(name, Object.keys(flags));
  return nearby === undefined ? '' : `; did you mean --${nearby}?`;
}

function capacity(expected: readonly string[]): string {
  return expected.length === 0 ? 'this command takes only flags' : `this command takes only ${expected.join(' ')}`;
}

function written(name: string, flag: Flag): string {
  return flag.value === undefined ? `--${name}` : `--${name} ${flag.value}`;
}
