// The only form of argument of the bench's own servers: --name NUMBER.
import process from 'node:process';

/** Throws if it is missing. */
export function numberArgument(name: string): number {
  const at = process.argv.indexOf(`--${name}`);
  const value = Number(process.argv[at + 1]);
  if (at === -1 || !Number.isFinite(value)) throw new Error(`--${name} NUMBER is missing`);
  return value;
}
