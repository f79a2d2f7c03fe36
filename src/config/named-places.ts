// Checks what a configuration refers to before anything is opened: its files, and the kind of its store.
import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { STORE_URL_FORMS, otherSchemeOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { labelOf } from './load.ts';
import type { LoadedPlugins } from './plugins.ts';

/** A line for each missing file, by the member that names it. */
export function unreadable({ tls, plugins, file }: Config): ReadonlyMap<string, string> {
  const files: (readonly [path: string, named: string])[] = [
    ...(tls === undefined
      ? []
      : ([
          ['tls.cert_file', tls.certFile],
          ['tls.key_file', tls.keyFile],
        ] as const)),
    ...plugins.map(({ module }, index) => [`plugins.${index}.module`, module] as const).filter(([, module]) => isAbsolute(module)),
  ];
  const missing = files.filter(([, named]) => !isReadable(named));
  return new Map(missing.map(([path, named]) => [path, `${labelOf(file)}: ${path}: ${named} cannot be read`]));
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A URL of another kind must be that of a plugin's store. */
export function assertStore({ store, file }: Config, stores: LoadedPlugins['stores']): void {
  const scheme = otherSchemeOf(store);
  if (storeKindOf(store) !== undefined || (scheme !== undefined && stores.has(scheme))) return;
  const more = [...stores.keys()].map((name) => `, ${name}:…`).join('');
  throw new ConfigError([`${labelOf(file)}: store: ${JSON.stringify(withoutCredentials(store))} is not one of ${STORE_URL_FORMS}${more}`]);
}
