// The files that a configuration names: certificate, key, modules of plugins, and secrets.
import { isAbsolute } from 'node:path';
import { besideFile } from './config.ts';
import type { Config } from './config.ts';

type Naming = Pick<
  Config,
  'file' | 'languagesFile' | 'tls' | 'plugins' | 'engines' | 'forward' | 'admin' | 'events' | 'documents' | 'otel'
>;

/** Absolute paths, with the configuration's own and that of its languages. */
export function namedFiles(config: Naming): string[] {
  const { file, languagesFile, tls, plugins, engines, forward, admin, events, documents, otel } = config;
  const secrets = [
    engines.map(({ options }) => options),
    forward.map(({ headers }) => headers),
    admin,
    events?.secret,
    documents?.secret,
    otel?.headers,
  ];
  return [
    file,
    languagesFile,
    ...(tls === undefined ? [] : [tls.certFile, tls.keyFile]),
    ...plugins.map(({ module }) => module).filter(isAbsolute),
    ...secretFiles(secrets).map((path) => besideFile(path, file)),
  ];
}

/** Everything of the form `{ file: PATH }`: whether it is a secret is only known with the schemas of protocols. */
function secretFiles(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  const path: unknown = members.length === 1 && members[0]![0] === 'file' ? members[0]![1] : undefined;
  if (typeof path === 'string') return path === '' || path.includes('\0') ? [] : [path];
  return members.flatMap(([, member]: [string, unknown]) => secretFiles(member));
}
