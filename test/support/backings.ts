// What the project's own stores are opened on in tests: a file in a directory of its own, a redis-server of its own.
import { JudgedClock } from './door/stores.ts';
import type { PluginStore } from '../../src/ports/plugin.ts';
import { promisedStore } from './promised-store.ts';
import type { SteppingClock } from './stepping-clock.ts';
import type { OpenStore } from '../../src/testing/store-contract.ts';
import { openBy, storePlace } from './store-place.ts';

/** Every call of `open` returns another instance on the same backing; call `remove` after all of them are closed. */
export interface JudgingBacking {
  readonly url: string;
  readonly open: OpenStore;
  /** A store whose clock is judged: it is given the machine's time, as a process judges it. */
  openJudging(machine: SteppingClock): Promise<PluginStore>;
  remove(): Promise<void>;
}

/** `normal` saves an fsync per operation, if power cuts are not tested. */
export async function storeBacking(kind: 'sqlite' | 'redis', durability: 'full' | 'normal' = 'full'): Promise<JudgingBacking> {
  const place = await storePlace(kind);
  const { url } = place;
  return judgingBacking(
    url,
    async (clock) => promisedStore(await openBy(clock, url, { durability })),
    () => place.remove(),
  );
}

/** Any other, which `open` opens. */
export function judgingBacking(url: string, open: OpenStore, remove: () => Promise<void>): JudgingBacking {
  return {
    url,
    open,
    openJudging(machine) {
      const clock = new JudgedClock(machine);
      machine.watches.push(() => void clock.nowMs());
      return open(clock);
    },
    remove,
  };
}
