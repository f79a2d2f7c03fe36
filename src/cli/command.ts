// The definition of a command: name, help, flags, and the context in which it runs; for commands
// about the gateway also the whole configuration, refused with all faults at once.
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';

export interface Flag {
  /** The placeholder for the value in help: `HOST:PORT`. A switch has none, and takes no value. */
  readonly value?: string;
  /** It may be given several times. */
  readonly many?: boolean;
  readonly summary: string;
  /** The values that it takes, if these are few; a part of the summary. */
  readonly choices?: readonly string[];
  /** The default, as help describes it. */
  readonly fallback?: string;
  readonly required?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface Command {
  /** The words after `lingate`: `team create`. */
  readonly name: string;
  /** At the beginning of its help; lists of commands show its first sentence. */
  readonly summary: string;
  /** What follows the name, where operands and flags do not say it: `KEY_ID | --stdin`. */
  readonly usage?: string;
  /** What users should know beyond the summary. */
  readonly about?: string;
  /** Names of the positional arguments; all are required. */
  readonly operands?: readonly string[];
  /** The switches of which each replaces all operands. */
  readonly insteadOfOperands?: readonly string[];
  /** The command's own flags, by names without dashes; the flags of every command are added. */
  readonly flags?: Flags;
  /** Warnings about the configuration go to the command's log instead of standard error. */
  readonly logsWarnings?: true;
  /** Whether it may create a database that does not exist. */
  readonly makesStore?: true;
  /** Complete command lines. */
  readonly examples: readonly string[];
  /** Loads what only it needs. Throws `CommandFailure`, `UsageError`, `ConfigError` or `StoreError` for a user's error. */
  run(context: CommandContext): Promise<void>;
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
  /** Whether the reader of `out` has closed it, so that further output is lost. */
  abandoned(): boolean;
  /** The contents of standard input; at a terminal one line, after `prompt`, without echo. */
  secret(prompt: string): Promise<string>;
  /** Standard input is a terminal, at which somebody can be asked. */
  readonly asks: boolean;
  /** One line typed at the terminal; `undefined` if standard input is not a terminal. */
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
  texts(flag: string): readonly string[] | undefined;
  on(flag: string): boolean;
  /**
   * The configuration, with this command's `store`, `listen`, `ops` and `engine-…` flags in it: read
   * once, or for a reload `again`. Rejects with a `ConfigError`.
   */
  config(again?: 'again'): Promise<Config>;
  /** Prints `value` with --json, and the text otherwise. */
  print(value: unknown, text: () => string): void;
}

/** Flags of every command. */
export const COMMON_FLAGS: Flags = {
  config: {
    value: 'FILE',
    summary: 'configuration file',
    fallback: 'LINGATE_CONFIG, then the config/lingate.yaml that comes with lingate',
  },
  store: { value: 'URL', summary: 'store to use', fallback: 'LINGATE_STORE, then the file' },
  json: { summary: 'print JSON for programs' },
  help: { summary: 'show this help' },
};

/** Flags of commands that run a gateway, or look for a running one. */
export const LISTEN_FLAGS: Flags = {
  listen: {
    value: 'HOST:PORT',
    summary: 'public address; port 0 picks a free one',
    fallback: 'LINGATE_LISTEN, then the file',
  },
  ops: {
    value: 'HOST:PORT',
    summary: 'address of probes, metrics, docs, admin API and console',
    fallback: 'LINGATE_OPS, then the file',
  },
};

/** Flags of commands that work with the engine. */
export const ENGINE_FLAGS: Flags = {
  'engine-url': {
    many: true,
    value: 'URL',
    summary: 'a replica of the engine; may be repeated',
    fallback: 'LINGATE_ENGINE_URL, then the file',
  },
  'engine-protocol': {
    value: 'NAME',
    summary: 'the protocol that the engine speaks',
    fallback: 'LINGATE_ENGINE_PROTOCOL, then the file',
  },
};

/** The command failed: exit status 1. The message is one line that says what to do. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** The command line itself is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Like `context.config`, but checks the whole file and reports all its faults. */
export async function validConfig(context: CommandContext): Promise<Config> {
  try {
    return await context.config();
  } catch (error) {
    if (!(error instanceof ConfigError) || error.rest === undefined || error.flagsOnly) throw error;
    const { config, asWritten } = error.rest;
    throw new ConfigError([...error.lines, ...(await laterFaults(config, context)).map(asWritten)]);
  }
}

async function laterFaults(config: Config, { io }: CommandContext): Promise<readonly string[]> {
  const { judge } = await import('../app/judge.ts');
  try {
    await (await judge(config, io.env)).plugins.close();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}
