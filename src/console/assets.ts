// The console's own files for the browser: read at start, under paths that change whenever they do, so that browsers may keep them.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from './route.ts';
import type { ConsoleRoute } from './route.ts';

const ASSETS = {
  'console.css': asset('console.css', 'text/css; charset=utf-8'),
  'copy.js': asset('copy.js', 'text/javascript; charset=utf-8'),
} as const;

export type AssetName = keyof typeof ASSETS;

/** Below `/console`. */
export function assetPath(name: AssetName): string {
  return ASSETS[name].path;
}

/** There is nothing of anybody's in them: the sign-in page needs its style too. */
export const ASSET_ROUTES: readonly ConsoleRoute[] = Object.values(ASSETS).map(({ path, contentType, body }) =>
  open('GET', path, () => ({ kind: 'file', contentType, body })),
);

function asset(name: string, contentType: string, from: URL = new URL(name, import.meta.url)) {
  const body = readFileSync(from, 'utf8');
  const [stem, ending] = name.split('.') as [string, string];
  return { path: `/assets/${stem}-${hash('sha256', body, 'hex').slice(0, 16)}.${ending}`, contentType, body };
}
