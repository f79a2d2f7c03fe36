// The older build of uWebSockets.js, where the newer one would be loaded: what the choice between them costs.
import { BUILD_VARIABLE, loadUws } from '../../src/server/uws-build.ts';
import { OLDER } from '../../src/server/uws-pins.ts';
import { NotOffered } from './contestant.ts';

/** For the environment of a contestant's program. Throws `NotOffered` where there is no choice. */
export function olderUws(): Readonly<Record<string, string>> {
  if (loadUws().package === OLDER.name) throw new NotOffered(`${OLDER.name} is what every contestant runs on here`);
  return { [BUILD_VARIABLE]: OLDER.name };
}
