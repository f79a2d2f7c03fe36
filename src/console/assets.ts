// The console's files for the browser, read at startup. Their folder's name changes when any does,
// so browsers may cache them.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from './console-route.ts';
import type { ConsoleRoute } from './console-route.ts';

export const ASSETS = {
  'console.css': here('../docs/base.css') + here('console.css'),
  'copy.js': here('../docs/copy.js'),
  'overview.js': here('browser/overview.js'),
} as const;

export type AssetName = keyof typeof ASSETS;

const FOLDER = `/assets/${hash('sha256', Object.values(ASSETS).join('\0'), 'hex').slice(0, 16)}`;

/** Below `/console`. */
export function assetPath(name: AssetName): string {
  return `${FOLDER}/${name}`;
}

/** Served without a session: they contain nothing secret, and the sign-in page needs the styles. */
export const ASSET_ROUTES: readonly ConsoleRoute[] = Object.entries(ASSETS).map(([name, body]) => {
  const contentType = `${name.endsWith('.css') ? 'text/css' : 'text/javascript'}; charset=utf-8`;
  return open('GET', assetPath(name as AssetName), () => ({ kind: 'file', contentType, body, keeps: true }));
});

function here(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
