// Which build of uWebSockets.js these tests run over: the one that this machine loads.
import { loadUws } from '../../src/server/uws-build.ts';
import { OLDER } from '../../src/server/uws-pins.ts';

/** As the table of deviations names its columns. A release of the operator's own counts as a newer one. */
export type UwsColumn = 'older' | 'newer';

export const UWS_COLUMN: UwsColumn = loadUws().package === OLDER.name ? 'older' : 'newer';
