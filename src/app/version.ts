// The version of the gateway.
import { readFileSync } from 'node:fs';

/** From package.json. */
export function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
