// Finds the token of the admin API where the configuration says it is, and holds it to its least length.
import { secret } from '../domain/option-schema.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { labelOf } from './load.ts';
import type { Environment } from './overrides.ts';
import { reveal } from './secrets.ts';

/** Longer than anybody guesses or types: it is to be drawn at random. */
const TOKEN_LENGTH_MIN = 32;

/** `undefined` when the admin API is off. Throws a `ConfigError`. */
export function adminToken({ admin, file }: Config, env: Environment): string | undefined {
  if (admin === undefined) return undefined;
  const { value, faults } = reveal(secret(''), admin.token, { env, file }, 'admin.token');
  if (faults.length > 0) throw new ConfigError(faults.map(({ path, reason }) => `${labelOf(file)}: ${path}: ${reason}`));
  const token = value as string;
  if (token.length >= TOKEN_LENGTH_MIN && !token.includes(' ')) return token;
  const right = `it must be at least ${TOKEN_LENGTH_MIN} characters without spaces, for example from "openssl rand -hex 32"`;
  throw new ConfigError([`${labelOf(file)}: admin.token: is too weak; ${right}`]);
}
