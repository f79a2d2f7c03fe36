// Turns a YAML file into a plain value; a syntax error names its line; an empty file is refused.
import { parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { ConfigError } from './config-error.ts';

const FILE_BYTES_MAX = 1_048_576;
/** Limits how large nested aliases can grow. */
const ALIASES_MAX = 100;
const EMPTY = 'is empty: there is nothing in it but blank lines, comments or null; was it still being written?';

/** `label` names the file; `read` throws as `readFileSync` does. Throws a `ConfigError`. */
export function readYamlFile(path: string, label: string, read: (path: string) => Buffer): unknown {
  return valueOfYaml(readText(path, label, read), label);
}

/** The value that the text of a file has. Throws a `ConfigError`. */
export function valueOfYaml(text: string, label: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'error' });
  // Only the first: what follows is mostly its consequence, as in a file that was cut off.
  const [complaint] = [...document.errors, ...document.warnings];
  if (complaint !== undefined) {
    throw new ConfigError([`${label}: ${place(complaint.linePos?.[0])}${firstLine(complaint.message)}`]);
  }
  const value = plainValue(document, label);
  // A file that is being written begins empty, so that must not mean defaults.
  if (value === null || value === undefined) throw new ConfigError([`${label}: ${EMPTY}`]);
  return value;
}

function plainValue(document: Document, label: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
  } catch (error) {
    throw new ConfigError([`${label}: ${firstLine(error instanceof Error ? error.message : String(error))}`]);
  }
}

/** The text of a file, as of `readYamlFile`. */
export function readText(path: string, label: string, read: (path: string) => Buffer): string {
  let bytes: Buffer;
  try {
    bytes = read(path);
  } catch (error) {
    throw new ConfigError([`${label}: cannot be read: ${reasonOf((error as NodeJS.ErrnoException).code ?? String(error))}`]);
  }
  if (bytes.length > FILE_BYTES_MAX) throw new ConfigError([`${label}: is larger than ${FILE_BYTES_MAX} bytes; is it the right file?`]);
  return bytes.toString('utf8');
}

/** Why a file cannot be read, by the code of the system's error. */
export function reasonOf(code: string): string {
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
      return 'this user has no permission to read it';
    case 'EISDIR':
      return 'it is a directory';
    default:
      return code;
  }
}

function place(position: { readonly line: number; readonly col: number } | undefined): string {
  return position === undefined ? '' : `line ${position.line}, column ${position.col}: `;
}

/** Without the position, which is reported apart, and the file's excerpt. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:?$/, '');
}
