// Reads a YAML file into a plain value; a syntax error names its line.
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { ConfigError } from './config-error.ts';

const FILE_BYTES_MAX = 1_048_576;
/** Limits how large nested aliases can grow. */
const ALIASES_MAX = 100;

/** `label` names the file in errors. An empty file is an empty object. Throws a `ConfigError`. */
export function readYamlFile(path: string, label: string): unknown {
  const text = readText(path, label);
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'error' });
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) {
    throw new ConfigError(complaints.map(({ message, linePos }) => `${label}: ${place(linePos?.[0])}${firstLine(message)}`));
  }
  try {
    return (document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown) ?? {};
  } catch (error) {
    throw new ConfigError([`${label}: ${firstLine(error instanceof Error ? error.message : String(error))}`]);
  }
}

function readText(path: string, label: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new ConfigError([`${label}: cannot be read: ${reasonOf(error)}`]);
  }
  if (bytes.length > FILE_BYTES_MAX) throw new ConfigError([`${label}: is larger than ${FILE_BYTES_MAX} bytes; is it the right file?`]);
  return bytes.toString('utf8');
}

/** Why a file cannot be read. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
      return 'this user has no permission to read it';
    case 'EISDIR':
      return 'it is a directory';
    default:
      return String(code ?? error);
  }
}

function place(position: { readonly line: number; readonly col: number } | undefined): string {
  return position === undefined ? '' : `line ${position.line}, column ${position.col}: `;
}

/** Without the position, which is reported separately, and without the excerpt of the file below it. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:?$/, '');
}
