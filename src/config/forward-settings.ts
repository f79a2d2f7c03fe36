// Forward routes with their secrets read; refuses those that would hide a route of the gateway or of a plugin.
import type { ForwardRoute } from '../domain/forward-route.ts';
import { secret } from '../domain/option-schema.ts';
import { Type } from '../domain/typebox.ts';
import { assertFaultless } from './config-error.ts';
import type { Fault } from './config-error.ts';
import { join, shown } from './faults.ts';
import type { ForwardConfig } from './forward.ts';
import { reveal } from './secrets.ts';
import type { SecretSources } from './secrets.ts';

const Headers = Type.Record(Type.String(), secret('A header of every request.'));

/**
 * Reads the secrets. `own` are the paths of other routes. Throws a `ConfigError` with every missing secret, and every forward
 * route that would hide one of those paths.
 */
export function forwardSettings(routes: readonly ForwardConfig[], own: readonly string[], sources: SecretSources): ForwardRoute[] {
  const faults: Fault[] = [];
  const settings = routes.map((route, index) => {
    const at = `forward.${index}`;
    const shadowed = own.find((path) => covers(route.path, path));
    if (shadowed !== undefined) {
      faults.push({ path: join(at, 'path'), reason: `${shown(route.path)} would hide ${shadowed}; choose another path` });
    }
    const revealed = reveal(Headers, route.headers, sources, join(at, 'headers'));
    faults.push(...revealed.faults);
    return { ...route, headers: revealed.value as Readonly<Record<string, string>> };
  });
  assertFaultless(sources.file, faults);
  return settings;
}

/** Whether a forward route with this path could match requests for `own`, which may have a parameter. */
function covers(path: string, own: string): boolean {
  const wildcard = path.endsWith('/*');
  const segments = (wildcard ? path.slice(0, -2) : path).split('/');
  const others = own.split('/');
  if (wildcard ? others.length < segments.length : others.length !== segments.length) return false;
  return segments.every((segment, index) => others[index]!.startsWith('{') || others[index] === segment);
}
