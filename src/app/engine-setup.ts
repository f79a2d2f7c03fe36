// Finds the engine protocols that a configuration names, built in or from a plugin, and checks their options.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { engineSettings } from '../config/engine-options.ts';
import type { EngineSettings } from '../config/engine-options.ts';
import type { Environment } from '../config/environment.ts';
import { withPlugins } from '../config/plugins.ts';
import { isFieldName } from '../engines/http1/request.ts';
import { builtInProtocols } from '../engines/protocols/built-in.ts';
import type { EngineProtocol } from '../ports/engine.ts';

/** Throws a `ConfigError` that says what is wrong, or which secret is missing. */
export function setUpEngines(
  config: Config,
  added: ReadonlyMap<string, EngineProtocol>,
  env: Environment = process.env,
): readonly EngineSettings[] {
  const taken = [...added.keys()].find((name) => builtInProtocols.has(name));
  if (taken !== undefined)
    throw new ConfigError([`plugins: the protocol "${taken}" is the gateway's own and cannot be replaced; choose another name`]);
  return engineSettings(config, { protocols: new Map([...builtInProtocols, ...added]), env, isFieldName });
}

/** Uses the engines' protocols and options without a gateway: opens neither the store nor a port. Sets up plugins only if a protocol is not built in. */
export async function withEngines<T>(
  config: Config,
  env: Environment,
  use: (settings: readonly EngineSettings[]) => Promise<T>,
): Promise<T> {
  const areBuiltIn = config.engines.every(({ protocol }) => builtInProtocols.has(protocol));
  if (areBuiltIn || config.plugins.length === 0) return use(setUpEngines(config, new Map(), env));
  return withPlugins(config.plugins, (plugins) => use(setUpEngines(config, plugins.engines, env)));
}
