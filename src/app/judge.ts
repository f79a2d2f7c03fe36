// Checks a whole configuration before anything is opened: plugins, routes, engines, secrets, files.
import { isAbsolute } from 'node:path';
import { secretsOf, sourcesOf } from '../config/secrets.ts';
import type { Config } from '../config/config.ts';
import { assertFaultless, ConfigError, labelOf, linesOf } from '../config/config-error.ts';
import type { Fault } from '../config/config-error.ts';
import { forwardSettings } from '../config/forward.ts';
import type { Environment } from '../config/environment.ts';
import type { FileContents } from '../config/file-set.ts';
import { otelSettings } from '../config/otel-settings.ts';
import { reasonOf } from '../config/yaml-file.ts';
import { isShipped, loadPlugins, NO_PLUGINS } from '../config/plugins.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { loadOidcLibrary, OIDC_PACKAGE } from '../console/oidc-provider.ts';
import type { OidcSettings } from '../domain/operator.ts';
import { STORE_URL_FORMS, otherSchemeOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { builtInProtocols } from '../engines/protocols/built-in.ts';
import type { Log } from '../ports/log.ts';
import { ListenError } from '../server/listener.ts';
import { judgeTelemetry } from './configured-telemetry.ts';
import { setUpEngines, withEngines } from './engine-settings.ts';
import { checkIdleSeconds } from './http-library.ts';
import { pluginRows, ownRows, routeRows } from './route-rows.ts';

/** The caller must close its plugins. Contains secrets: do not print it. */
export type ValidSettings = Awaited<ReturnType<typeof judge>>;

/**
 * Rejects with a `ConfigError` of all faults, with plugins closed. Reads files and variables and
 * sets up plugins; opens neither the store nor a port.
 */
export async function judge(config: Config, env: Environment = process.env, log?: Log) {
  const faults = new FoundFaults(config);
  const missing = unreadable(config);
  const missingLines = linesOf(config.file, missing);
  faults.add(missingLines, false);
  const plugins = await faults.of(() => loadPlugins(config.plugins, log));
  const own = ownRows(config, plugins ?? NO_PLUGINS);
  const rows = plugins && (await faults.of(() => pluginRows(own, plugins)));
  if (rows !== undefined) await faults.of(() => routeRows(config, plugins!));
  // It may be that of a plugin that could not be loaded; the plugins that we ship have none.
  const known = plugins ?? (config.plugins.every(({ module }) => isShipped(module)) ? NO_PLUGINS : undefined);
  const judgeable =
    known === undefined ? { ...config, engines: config.engines.filter(({ protocol }) => builtInProtocols.has(protocol)) } : config;
  const engines = await faults.of(() => setUpEngines(judgeable, (known ?? NO_PLUGINS).engines, env));
  const secrets = await faults.of(() => secretsOf(config, sourcesOf(config, env)));
  const paths = [...own, ...(rows ?? [])].map(({ path }) => path);
  const forward = await faults.of(() => forwardSettings(config, secrets?.forwardHeaders, paths));
  const oidc = await faults.of(() => openOidc(config.file, secrets?.oidc));
  const otel = await faults.of(() => judgeTelemetry(config, env, secrets?.otelHeaders));
  if (known !== undefined) await faults.of(() => assertStore(config, known.stores));
  if (config.tls !== undefined && !missing.some(({ path }) => path.startsWith('tls.'))) {
    const { tlsOf } = await import('./certificate.ts');
    await faults.of(() => tlsOf(config));
  }
  await faults.of(() => checkIdleSeconds(config));
  // A missing module has already been reported.
  const again = missing.map(({ path }) => `${labelOf(config.file)}: ${path}: `);
  const lines = faults.lines.filter((line) => missingLines.includes(line) || !again.some((start) => line.startsWith(start)));
  if (lines.length > 0) {
    await plugins?.close();
    throw new ConfigError(lines, faults.flagsOnly);
  }
  return { plugins: plugins!, engines: engines!, forward: forward!, secrets: secrets!, oidc, otel };
}

/**
 * What a reload can check, so that wrong secrets are reported now. Plugins are only set up again
 * for an engine's protocol. Rejects with a `ConfigError`.
 */
export async function judgeSecrets(config: Config, env: Environment): Promise<void> {
  const faults = new FoundFaults(config);
  await faults.of(() => withEngines(config, env, () => Promise.resolve()));
  await faults.of(() => secretsOf(config, sourcesOf(config, env)));
  await faults.of(() => otelSettings(config, env));
  if (faults.lines.length > 0) throw new ConfigError(faults.lines);
}

/** The files that the configuration names and that cannot be read. */
function unreadable({ tls, plugins, sources: { files } }: Config): Fault[] {
  const named = [
    { path: 'tls.cert_file', file: tls?.certFile },
    { path: 'tls.key_file', file: tls?.keyFile },
    ...plugins.map(({ module }, index) => ({ path: `plugins.${index}.module`, file: isAbsolute(module) ? module : undefined })),
  ];
  return named.flatMap(({ path, file }) => {
    const why = file === undefined ? undefined : whyUnreadable(file, files);
    return why === undefined ? [] : [{ path, reason: `${file!} cannot be read: ${why}` }];
  });
}

/** The sign-in by a provider: the settings in force, which a reload replaces, and its package. */
async function openOidc(file: string, settings: OidcSettings | undefined) {
  if (settings === undefined) return undefined;
  const library = await loadOidcLibrary();
  const reason = `needs the package ${OIDC_PACKAGE}, which is not installed; it must be beside Lingate: npm install ${OIDC_PACKAGE}`;
  assertFaultless(file, library === undefined ? [{ path: 'admin.oidc', reason }] : []);
  return { settings, library: library! };
}

/** A folder is reported by those who use the file. */
function whyUnreadable(file: string, files: FileContents): string | undefined {
  const read = files.get(file);
  return read?.kind === 'unreadable' && read.code !== 'EISDIR' ? reasonOf(read.code) : undefined;
}

/** A URL of another kind must be that of a plugin's store. */
function assertStore({ store, file }: Config, stores: LoadedPlugins['stores']): void {
  const scheme = otherSchemeOf(store);
  if (storeKindOf(store) !== undefined || (scheme !== undefined && stores.has(scheme))) return;
  const more = [...stores.keys()].map((name) => `, ${name}:…`).join('');
  assertFaultless(file, [
    { path: 'store', reason: `${JSON.stringify(withoutCredentials(store))} is not one of ${STORE_URL_FORMS}${more}` },
  ]);
}

/** Collects the lines of all checks that fail, and whether only flags are at fault. */
class FoundFaults {
  readonly lines: string[] = [];
  flagsOnly = true;
  readonly #label: string;

  constructor({ file }: Config) {
    this.#label = labelOf(file);
  }

  add(lines: readonly string[], flagsOnly: boolean): void {
    this.lines.push(...lines);
    if (lines.length > 0 && !flagsOnly) this.flagsOnly = false;
  }

  /** The result of the check; `undefined` if it found a fault. */
  async of<T>(check: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof ListenError) this.add([`${this.#label}: ${error.message}`], false);
      else if (!(error instanceof ConfigError)) throw error;
      // Errors about routes and steps do not name the file.
      else
        this.add(
          error.lines.map((line) => line.replace(/^plugins: /, `${this.#label}: $&`)),
          error.flagsOnly,
        );
      return undefined;
    }
  }
}
