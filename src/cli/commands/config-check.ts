// lingate config check: says whether a configuration is valid, and what follows from it.
import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { adminToken } from '../../config/admin-token.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { formatNetworkAddress } from '../../config/network-address.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import { checkEngine } from '../../app/engine-setup.ts';
import { checkForward } from '../../app/forward-setup.ts';
import { checkIdleSeconds } from '../../app/http-library.ts';
import type { EngineSettings } from '../../config/engine-options.ts';
import type { Command } from '../command.ts';
import { labelled } from '../text-table.ts';

export const configCheck: Command = {
  name: 'config check',
  summary: 'Checks the configuration and shows what it comes to.',
  usage: '',
  about: 'All faults are listed at once. Reads the files that it names and sets plugins up; opens neither store nor port.',
  flags: {},
  examples: ['lingate config check --config lingate.yaml'],
  async run(context) {
    const config = await context.config();
    const missing = unreadable(config);
    if (missing.length > 0) throw new ConfigError(missing);
    await checkIdleSeconds(config);
    // Throws when a plugin's options are wrong, or when its steps and routes do not fit.
    if (config.plugins.length > 0) await (await import('../../app/app.ts')).describeRoutes(config);
    const admin = adminToken(config, context.io.env) === undefined ? 'off' : 'on';
    const forward = checkForward(config, context.io.env);
    const engine = engineSummaryOf(await checkEngine(config, context.io.env));
    const summary = { ...summaryOf(config), ...engine, admin, ...(forward.length === 0 ? {} : { forward }) };
    context.print(
      { valid: true, ...summary },
      () =>
        `The configuration is valid.\n\n${labelled(Object.fromEntries(Object.entries(summary).map(([name, value]) => [name, textOf(value)])))}`,
    );
  },
};

function summaryOf(config: Config) {
  return {
    file: config.file,
    listen: formatNetworkAddress(config.listen),
    ops: formatNetworkAddress(config.ops),
    store: withoutCredentials(config.store),
    engine_protocol: config.engine.protocol,
    engine_urls: config.engine.urls,
    plans: [...config.plans.keys()],
    source_languages: config.languages.sources.length,
    target_languages: config.languages.targets.length,
  };
}

/** Of secrets only the names. */
function engineSummaryOf({ given, secrets }: EngineSettings) {
  return { engine_options: given, secrets_found: secrets };
}

function textOf(value: string | number | readonly string[]): string | number {
  return typeof value === 'object' ? value.join(', ') || 'none' : value;
}

/** Files that only a running gateway reads: other commands work for operators who may not read them. */
function unreadable(config: Config): string[] {
  const files = [
    ...(config.tls === undefined
      ? []
      : [
          ['tls.cert_file', config.tls.certFile],
          ['tls.key_file', config.tls.keyFile],
        ]),
    ...config.plugins.map(({ module }, index) => [`plugins.${index}.module`, module]).filter(([, module]) => isAbsolute(module!)),
  ] as [path: string, file: string][];
  return files.filter(([, file]) => !isReadable(file)).map(([path, file]) => `${config.file}: ${path}: ${file} cannot be read`);
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
