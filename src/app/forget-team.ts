// For commands: has the configured plugins delete what they share between processes, for one team or all.
import type { Config } from '../config/config.ts';
import type { Log } from '../ports/log.ts';

/** The number of deleted items of one plugin; `undefined` if its processes share nothing. */
export interface PluginForgot {
  readonly plugin: string;
  readonly dropped: number | undefined;
  /** It could not be reached. */
  readonly failed: boolean;
}

/** Only plugins that store data of teams. Rejects with a `ConfigError` if one cannot be loaded. */
export async function forgetInPlugins(config: Config, log: Log, teamId: string | undefined): Promise<readonly PluginForgot[]> {
  if (config.plugins.length === 0) return [];
  const { loadPlugins } = await import('../config/plugins.ts');
  const plugins = await loadPlugins(config.plugins, log);
  try {
    const forgot: PluginForgot[] = [];
    for (const forgetful of plugins.forgetful) {
      const { plugin } = forgetful;
      try {
        forgot.push({ plugin, dropped: await forgetful.forget(teamId), failed: false });
      } catch {
        forgot.push({ plugin, dropped: undefined, failed: true });
      }
    }
    return forgot;
  } finally {
    await plugins.close();
  }
}
