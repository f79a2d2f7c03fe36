// For commands: has the configured plugins drop what they share between processes of a team, or of all.
import type { Config } from '../config/config.ts';
import type { Log } from '../ports/log.ts';

/** What became of it at one plugin: `undefined` where processes share nothing. */
export interface PluginForgot {
  readonly plugin: string;
  readonly dropped: number | undefined;
  /** It could not be reached. */
  readonly failed: boolean;
}

/** Plugins that remember nothing of teams are left out. Rejects with a `ConfigError` where one cannot be loaded. */
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
