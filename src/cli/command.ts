// What a command is: its place, its help, its flags, and what it is given when it runs.
import type { Config } from '../config/config.ts';

export interface Flag {
  /** `switch` takes no value; `texts` may be given several times. */
  readonly kind: 'switch' | 'text' | 'texts';
  /** How help writes the value: `HOST:PORT`. Nothing with a switch. */
  readonly value?: string;
  readonly summary: string;
  /** How help writes what holds without the flag. */
  readonly fallback?: string;
  readonly required?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface Command {
  /** The words behind `lingate`: `team create`. */
  readonly name: string;
  /** One line for lists of commands. */
  readonly summary: string;
  /** What follows the name: `TEAM [--plan PLAN]`. */
  readonly usage: string;
  /** What people should know beyond the summary. */
  readonly about?: string;
  /** Names of the arguments that are no flags; all are required. */
  readonly operands?: readonly string[];
  /** The switch that takes the place of all operands. */
  readonly insteadOfOperands?: string;
  /** Its own flags; those that every command takes are added. Names without dashes. */
  readonly flags: Flags;
  /** What the configuration warns of goes to its log instead of standard error. */
  readonly logsWarnings?: true;
  /** It may make a new database where there is none. */
  readonly makesStore?: true;
  /** It brings the data of an older version up to this one; other commands leave it as it is and say so. */
  readonly migratesStore?: true;
  /** Whole command lines. */
  readonly examples: readonly string[];
  /** Throws `CommandFailure`, `UsageError`, `ConfigError` or `StoreError` for what a person can put right. */
  run(context: CommandContext): Promise<void>;
}

/** A command whose code is loaded only when it is called for. */
export interface LateCommand extends Pick<Command, 'name' | 'summary'> {
  load(): Promise<Command>;
}

/** The command line's output, environment and clock; tests pass their own. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `err` is a terminal. */
  readonly watched: boolean;
  /** `out` is a terminal. */
  readonly shown: boolean;
  /** Whoever read `out` has left: what is written there is lost. */
  abandoned(): boolean;
  /** What stands on standard input; at a terminal one line, asked for by `prompt` and not shown. */
  secret(prompt: string): Promise<string>;
  /** What is typed at the terminal, in one line; `undefined` where standard input is none. */
  line(prompt: string): Promise<string | undefined>;
  /** Wall clock, for "3 minutes ago". */
  nowMs(): number;
}

export interface CommandContext {
  readonly io: Io;
  readonly command: Command;
  readonly json: boolean;
  readonly operands: readonly string[];
  /** A flag's value; `undefined` when it was not given. */
  text(flag: string): string | undefined;
  /** The value of a flag that is declared `required`. */
  required(flag: string): string;
  texts(flag: string): readonly string[] | undefined;
  on(flag: string): boolean;
  /** The configuration, with this command's `store`, `listen`, `ops` and `engine-…` flags in it. */
  config(): Promise<Config>;
  /** Prints `value` with --json, otherwise the text for people. */
  print(value: unknown, text: () => string): void;
}

/** Flags of every command. */
export const COMMON_FLAGS: Flags = {
  config: {
    kind: 'text',
    value: 'FILE',
    summary: 'configuration file',
    fallback: 'LINGATE_CONFIG, then the config/lingate.yaml that comes with lingate',
  },
  store: { kind: 'text', value: 'URL', summary: 'store to use', fallback: 'LINGATE_STORE, then the file' },
  json: { kind: 'switch', summary: 'print JSON for programs' },
  help: { kind: 'switch', summary: 'show this help' },
};

/** Flags of commands that work with the engine. */
export const ENGINE_FLAGS: Flags = {
  'engine-url': {
    kind: 'texts',
    value: 'URL',
    summary: 'a replica of the engine; may be repeated',
    fallback: 'LINGATE_ENGINE_URL, then the file',
  },
  'engine-protocol': {
    kind: 'text',
    value: 'NAME',
    summary: 'the protocol that the engine speaks',
    fallback: 'LINGATE_ENGINE_PROTOCOL, then the file',
  },
};

/** What was asked for could not be done: exit status 1. Its message is one line that says what to do. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** The command line itself is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
