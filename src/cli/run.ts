// Runs one command line: finds the command, parses its arguments, and turns its result into an exit
// status. A wrong argument is reported in one line that says what would be right.
import { parseArgs } from 'node:util';
import { versionOf } from '../app/version.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { FileSet } from '../config/file-set.ts';
import { nearest } from '../config/nearest.ts';
import { holdsKey } from '../domain/api-key.ts';
import type { Command, CommandContext, Flags, Io } from './command.ts';
import { commandsOf, FIRST_WORDS } from './commands.ts';
import { COMMON_FLAGS, UsageError } from './command.ts';
import { helpOf, helpOfAll, helpOfGroup, typed, written } from './help.ts';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

const KEY_IN_ARGUMENTS =
  'there is a key on the command line, where the shell history keeps it and other users of this machine can read it; pass it on ' +
  'standard input: "lingate key find" finds it, "lingate key revoke --stdin" revokes it.';

const HELP = ['--help', '-h', 'help'];
/** Errors whose messages were written for operators, wherever they come from. */
const WRITTEN = ['CommandFailure', 'RefusedError', 'StoreError', 'ListenError'];

/** Runs one command line. Never rejects: an error is one line on standard error and a status. */
export function run(argv: readonly string[], io: Io): Promise<number> {
  // In text for people, commands are shown as they can be typed here; --json output is not changed.
  return runWords(argv, { ...io, err: (text) => io.err(typed(text, io.env)) });
}

async function runWords(argv: readonly string[], io: Io): Promise<number> {
  const [first = '', ...rest] = argv;
  // Checked first, so that nothing prints the key.
  if (argv.some(holdsKey)) {
    io.err(`lingate: ${KEY_IN_ARGUMENTS}\n`);
    return WRONG_USAGE;
  }
  if (first === '') {
    io.err(helpOfAll(await commandsOf()));
    return WRONG_USAGE;
  }
  if (first === '--version') {
    // Imported on demand, because no other command needs it.
    const { describeUwsBuild } = await import('../app/http-library.ts');
    return printed(io, `${versionOf()}\n${await describeUwsBuild()}\nNode ${process.versions.node}\n`);
  }
  if (!HELP.includes(first)) return findAndRun(argv, io);
  return first === 'help' && rest.length > 0
    ? runWords([...rest, '--help'], io)
    : printed(io, typed(helpOfAll(await commandsOf()), io.env));
}

function printed(io: Io, text: string): number {
  io.out(text);
  return DONE;
}

async function findAndRun(argv: readonly string[], io: Io): Promise<number> {
  const [first = '', second = ''] = argv;
  const commands = await commandsOf(first);
  const named = (name: string) => commands.find((one) => one.name === name);
  const group = commands.filter(({ name }) => name !== first);
  const words = group.map(({ name }) => name.slice(first.length + 1));
  const [whole, single] = [named(`${first} ${second}`), named(first)];
  if (whole !== undefined) return runOne(whole, argv.slice(2), io);
  // Some words are both a command and a group: `usage TEAM`, `usage export`.
  if (single !== undefined && (second.startsWith('-') || nearest(second, words) === undefined))
    return runOne(single, argv.slice(1), io, group);
  if (commands.length === 0) return wrong(io, 'lingate', unknown(first, FIRST_WORDS));
  if (single === undefined && HELP.includes(second)) return printed(io, typed(helpOfGroup(first, group), io.env));
  return wrong(io, `lingate ${first}`, second === '' ? `a command is missing; use one of ${words.join(', ')}` : unknown(second, words));
}

/** `more` are the commands that begin with the same word. */
async function runOne(command: Command, argv: readonly string[], io: Io, more: readonly Command[] = []): Promise<number> {
  const title = `lingate ${command.name}`;
  try {
    if (asksForHelp(argv)) io.out(typed(helpOf(command, more), io.env));
    else await command.run(contextOf(command, readArguments(command, argv), io));
    return DONE;
  } catch (error) {
    return failed(error, title, io);
  }
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  return argv[0] === 'help' || flags.includes('--help') || flags.includes('-h');
}

function failed(error: unknown, title: string, io: Io): number {
  if (error instanceof UsageError) return wrong(io, title, error.message);
  if (error instanceof ConfigError) {
    for (const line of error.lines) io.err(error.flagsOnly ? `${title}: ${line}\n` : `${line}\n`);
    return error.flagsOnly ? WRONG_USAGE : FAILED;
  }
  const message = error instanceof Error ? error.message : String(error);
  const isWritten = error instanceof Error && WRITTEN.includes(error.name);
  io.err(`${title}: ${isWritten ? '' : 'unexpected failure: '}${message.split('\n', 1)[0]}\n`);
  return FAILED;
}

/** One line that says what is wrong, and where help is. */
function wrong(io: Io, title: string, reason: string): number {
  io.err(`${title}: ${reason}${reason.endsWith('?') ? '' : '.'} Run "${title} --help".\n`);
  return WRONG_USAGE;
}

function unknown(word: string, known: readonly string[]): string {
  if (word.startsWith('-')) return `unknown flag ${word}; flags go after the command`;
  const nearby = nearest(word, known);
  return `unknown command ${JSON.stringify(word)}; ${nearby === undefined ? `the commands are ${known.join(', ')}` : `did you mean ${nearby}?`}`;
}

function contextOf(command: Command, { operands, values }: Arguments, io: Io): CommandContext {
  const json = values.has('json');
  let config: Config | undefined;
  let files: FileSet | undefined;
  const load = async (): Promise<Config> => {
    // Imported here: help and wrong flags need neither the schema nor the YAML parser.
    const { loadConfig } = await import('../config/load.ts');
    const { FileSet: Files } = await import('../config/file-set.ts');
    const flags = { ...Object.fromEntries([...values].map(([flag, given]) => [flag, given[0]])), 'engine-url': values.get('engine-url') };
    files = new Files(files);
    return loadConfig({ file: values.get('config')?.[0], env: io.env, flags, files });
  };
  return {
    io,
    command,
    json,
    operands,
    text: (flag) => values.get(flag)?.[0],
    texts: (flag) => values.get(flag),
    on: (flag) => values.has(flag),
    async config(again) {
      if (again !== undefined) return load();
      if (config !== undefined) return config;
      config = await load();
      if (command.logsWarnings !== true)
        for (const warning of config.sources.warnings) io.err(`lingate ${command.name}: warning: ${warning}\n`);
      return config;
    },
    print: (value, forPeople) => io.out(`${json ? JSON.stringify(value) : forPeople()}\n`),
  };
}

interface Arguments {
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

/** Not strict: the parser's messages do not say what was intended. `take` checks instead. */
function tokensOf(argv: readonly string[], flags: Flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }]),
  );
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function take(token: OptionToken, flags: Flags, values: Map<string, string[]>): void {
  const { name, rawName, value, inlineValue } = token;
  const flag = Object.hasOwn(flags, name) && rawName.startsWith('--') ? flags[name]! : undefined;
  if (flag === undefined) throw new UsageError(`unknown flag ${rawName}${suggestion(name, flags)}`);
  const given = values.get(name);
  if (given !== undefined && flag.many !== true) throw new UsageError(`${rawName} is given twice`);
  if (flag.value === undefined) {
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
