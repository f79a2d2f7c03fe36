// The help of lingate, of a group of commands, and of one command.
import { COMMON_FLAGS } from './command.ts';
import type { Environment } from '../config/environment.ts';
import type { Command, Flag, Flags } from './command.ts';

const WIDTH_MAX = 100;
const GAP = '  ';

export function helpOfAll(commands: readonly Command[]): string {
  return [
    'Lingate is a metering gateway in front of a translation engine: keys, rate limits, quota and credit.',
    '',
    'Usage: lingate COMMAND [FLAGS]',
    '',
    'Commands:',
    ...listed(commands),
    '',
    'Every command takes --config FILE, --store URL, --json and --help; lingate --version prints its version and that of the HTTP library.',
    'To try it: lingate demo',
    '',
  ].join('\n');
}

export function helpOfGroup(group: string, commands: readonly Command[]): string {
  return [
    `Usage: lingate ${group} COMMAND [FLAGS]`,
    '',
    'Commands:',
    ...listed(commands),
    '',
    `"lingate ${group} COMMAND --help" shows the flags of a command.`,
    '',
  ].join('\n');
}

/** `more` are the commands that begin with the same word. */
export function helpOf(command: Command, more: readonly Command[] = []): string {
  const { name, summary, usage = usageOf(command), about = '', flags, examples } = command;
  return [
    `Usage: lingate ${[name, usage, '[FLAGS]'].filter((part) => part !== '').join(' ')}`,
    '',
    ...wrapped(`${summary} ${about}`.trim(), WIDTH_MAX),
    ...(Object.keys(flags ?? {}).length === 0 ? [] : ['', 'Flags:', ...flagLines(flags ?? {})]),
    '',
    'Flags of every command:',
    ...flagLines(COMMON_FLAGS),
    '',
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...examples.map((line) => `${GAP}${line}`),
    ...(more.length === 0 ? [] : ['', 'See also:', ...listed(more)]),
    '',
  ].join('\n');
}

const USAGE_LENGTH_MAX = 100;

/** All flags if they are few, otherwise those that are required. */
function usageOf({ operands = [], flags = {} }: Command): string {
  const line = (isShown: (flag: Flag) => boolean): string =>
    [...operands, ...Object.entries(flags).flatMap(([name, flag]) => (isShown(flag) ? usedAs(name, flag) : []))].join(' ');
  const all = line(() => true);
  return all.length <= USAGE_LENGTH_MAX ? all : line(({ required = false }) => required);
}

/** `--config FILE`. */
export function written(name: string, { value }: Flag): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function usedAs(name: string, flag: Flag): string {
  const used = written(name, flag);
  return `${flag.required === true ? used : `[${used}]`}${flag.many === true ? '…' : ''}`;
}

function listed(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `${GAP}${name.padEnd(width)}${GAP}${summary.split(/(?<=\.) /, 1)[0]}`);
}

function flagLines(flags: Flags): string[] {
  const rows = Object.entries(flags).map(([name, flag]) => {
    const left = written(name, flag);
    const { summary, choices, required = false, fallback } = flag;
    const notes = [...(required ? ['required'] : []), ...(fallback === undefined ? [] : [`default: ${fallback}`])];
    const right = choices === undefined ? summary : `${summary}: ${choices.join(', ')}`;
    return { left, right: notes.length === 0 ? right : `${right} (${notes.join('; ')})` };
  });
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.flatMap(({ left, right }) => {
    const [first = '', ...rest] = wrapped(right, WIDTH_MAX - width - 2 * GAP.length);
    return [`${GAP}${left.padEnd(width)}${GAP}${first}`, ...rest.map((line) => `${GAP}${' '.repeat(width)}${GAP}${line}`)];
  });
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** After a quote or a colon: not the prefix of a message, which names the failed command. */
const HINT = /(?<="|: |^ {2})lingate (?=[a-z]|COMMAND\b|--)/gm;

/** As they can be typed here: by npm in a checkout, by npx beside a package, or plainly. */
export function typed(text: string, env: Environment): string {
  const start = startOf(env);
  return start === 'lingate' ? text : text.replaceAll(HINT, `${start} `);
}

function startOf(env: Environment): string {
  // npm sets the name of the script that started us, or that it was npx.
  if (env['npm_lifecycle_event'] === 'lingate') return 'npm run -s lingate --';
  return env['npm_command'] === 'exec' ? 'npx lingate' : 'lingate';
}
