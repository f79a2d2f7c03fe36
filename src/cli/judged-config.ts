// Loads the configuration for a command about the gateway. A wrong one is refused with all faults at once: also of plugins, protocols and secrets.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { ValidSettings } from '../app/judge.ts';
import type { CommandContext } from './command.ts';

/** Rejects with a `ConfigError`. The caller must close the plugins. */
export async function judgedConfig(context: CommandContext): Promise<ValidSettings> {
  const config = await validConfig(context);
  const { judge } = await import('../app/judge.ts');
  return judge(config, context.io.env);
}

/** Like `context.config`, but checks the whole file and reports all its faults. */
export async function validConfig(context: CommandContext): Promise<Config> {
  try {
    return await context.config();
  } catch (error) {
    const { RefusedConfig } = await import('../config/load.ts');
    if (!(error instanceof RefusedConfig) || error.rest === undefined || error.flagsOnly) throw error;
    const { config, asWritten } = error.rest;
    throw new ConfigError([...error.lines, ...(await laterFaults(config, context)).map(asWritten)]);
  }
}

async function laterFaults(config: Config, { io }: CommandContext): Promise<readonly string[]> {
  const { judge } = await import('../app/judge.ts');
  try {
    await (await judge(config, io.env)).plugins.close();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}
