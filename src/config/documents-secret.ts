// The secret that the files of documents are encrypted with.
import { secret } from '../domain/option-schema.ts';
import { assertFaultless } from './config-error.ts';
import type { Config } from './config.ts';
import type { Environment } from './environment.ts';
import { reveal } from './secrets.ts';

const SECRET_LENGTH_MIN = 32;

/** `undefined` if documents are off. Throws a `ConfigError`. */
export function documentsSecret({ documents, file, sources: { files } }: Config, env: Environment): Buffer | undefined {
  if (documents === undefined) return undefined;
  const path = 'documents.secret';
  const { value, faults } = reveal(secret(''), documents.secret, { env, file, files }, path);
  assertFaultless(file, faults);
  const text = value as string;
  const reason = `is too weak; it must be at least ${SECRET_LENGTH_MIN} characters, for example from "openssl rand -hex 32"`;
  assertFaultless(file, text.length < SECRET_LENGTH_MIN ? [{ path, reason }] : []);
  return Buffer.from(text);
}
