// For commands: has the configured plugins delete what they share between processes, for one team or all.
import type { Config } from '../config/config.ts';

/** The number of deleted items of one plugin; `undefined` if its processes share nothing. */
export interface PluginForgot {
  readonly plugin: string;
  readonly dropped: number | undefined;
  /** It could not be reached. */
  readonly failed: boolean;
}

/** Only plugins that store data of teams. Rejects with a `ConfigError` if one cannot be loaded. */
export async function forgetInPlugins(config: Config, teamId: string | undefined): Promise<readonly PluginForgot[]> {
  if (config.plugins.length === 0) return [];
  const { withPlugins } = await import('../config/plugins.ts');
  return withPlugins(config.plugins, async ({ forgetful }) => {
    const forgot: PluginForgot[] = [];
    for (const { plugin, forget } of forgetful) {
      try {
        forgot.push({ plugin, dropped: await forget(teamId), failed: false });
      } catch {
        forgot.push({ plugin, dropped: undefined, failed: true });
      }
    }
    return forgot;
  });
}
