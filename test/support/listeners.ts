// The public listeners that this machine can open, and which build of uWebSockets.js one of them uses.
import { loadUws, NoUws, OLDER } from './door/tables.ts';
import type { UwsBuild } from '../../src/server/uws-build.ts';

export type ListenerName = 'uws' | 'node';

/** The column's name in the table of deviations. An operator's own release counts as a newer one. */
export type UwsColumn = 'older' | 'newer';

/** What `listener: uws` is on this machine; `undefined` if nothing loads, and `unit/server/uws-build` checks where that may be. */
export const UWS: UwsBuild | undefined = loadedUws();

export const UWS_COLUMN: UwsColumn = UWS?.package === OLDER.name ? 'older' : 'newer';

/** What tests of both run on: the first is the one that `listener: auto` chooses. */
export const LISTENERS: readonly [ListenerName, ...ListenerName[]] = UWS === undefined ? ['node'] : ['uws', 'node'];

function loadedUws(): UwsBuild | undefined {
  try {
    return loadUws();
  } catch (error) {
    if (error instanceof NoUws && !error.replaced) return undefined;
    throw error;
  }
}
