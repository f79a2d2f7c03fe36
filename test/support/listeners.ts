// The public listeners that this machine can open, and which build of uWebSockets.js stands behind one of them.
import { loadUws, NoUws } from '../../src/server/uws-build.ts';
import type { UwsBuild } from '../../src/server/uws-build.ts';
import { OLDER } from '../../src/server/uws-pins.ts';

export type ListenerName = 'uws' | 'node';

/** As the table of deviations names its columns. A release of the operator's own counts as a newer one. */
export type UwsColumn = 'older' | 'newer';

/** What `listener: uws` is on this machine; `undefined` where nothing loads, and `unit/server/uws-build` holds where that may be. */
export const UWS: UwsBuild | undefined = loadedUws();

export const UWS_COLUMN: UwsColumn = UWS?.package === OLDER.name ? 'older' : 'newer';

/** All that tests of both run on: the first is what `listener: auto` is. */
export const LISTENERS: readonly [ListenerName, ...ListenerName[]] = UWS === undefined ? ['node'] : ['uws', 'node'];

function loadedUws(): UwsBuild | undefined {
  try {
    return loadUws();
  } catch (error) {
    if (error instanceof NoUws && !error.replaced) return undefined;
    throw error;
  }
}
