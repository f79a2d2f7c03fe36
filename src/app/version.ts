// Which version of the gateway this is.
import { readFileSync } from 'node:fs';

/** As package.json has it. */
export function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
