// Opens plugins' stores to read or write them as a whole, for the commands that check, repair and copy.
import type { Config } from '../config/config.ts';
import { stepText } from '../domain/clock-judge.ts';
import { dayOf } from '../domain/period.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import { storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import type { OpenPluginStore } from '../ports/plugin.ts';
import type { OtherStores } from '../stores/open-reader.ts';
import { beginClock } from '../stores/records/record-clock.ts';
import { SILENT } from './configured-store.ts';
import { openMachineClock } from './machine-clock.ts';

/**
 * Calls `use` with the stores of the plugins that the configuration names; they are loaded if one of `urls` is not of ours, and closed
 * afterwards. Rejects with a `ConfigError` if they cannot be.
 */
export async function withWholeStores<T>(
  urls: readonly string[],
  config: () => Promise<Pick<Config, 'plugins'>>,
  use: (others: OtherStores) => Promise<T>,
): Promise<T> {
  if (urls.every((url) => storeKindOf(url) !== undefined)) return use(new Map());
  const { withPlugins } = await import('../config/plugins.ts');
  const { plugins } = await config();
  return withPlugins(plugins, ({ stores }) => use(new Map([...stores].map(([scheme, open]) => [scheme, opener(open)]))));
}

/** Each store has a clock of its own, which it judges: without it, nothing could be said of what has ended. */
function opener(open: OpenPluginStore): (url: string, mayCreate: boolean) => ReturnType<OpenPluginStore> {
  return async (url, mayCreate) => {
    const clock = openMachineClock();
    // Nothing in the audit is too old to be copied.
    const store = await open(url, { log: SILENT, clock, historyDays: dayOf(clock.nowMs()), mayCreate });
    try {
      await beginClock(store.records, clock, SILENT);
      if (clock.stepMs !== 0) throw wrongClock(url, clock.stepMs);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  };
}

function wrongClock(url: string, byMs: number): StoreError {
  return new StoreError(
    `this machine's clock is ${stepText(byMs)} the latest time of the store ${withoutCredentials(url)}: set it right, or if it is, run "lingate store check --accept-clock"`,
  );
}
