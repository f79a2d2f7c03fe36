// The older build of uWebSockets.js, where the newer one would be loaded: measures the cost of that choice.
import { BUILD_VARIABLE, loadUws } from '../../src/server/uws-build.ts';
import { OLDER } from '../../src/server/uws-pins.ts';
import { NotOffered } from './contestant.ts';

/** For the environment of a contestant's program. Throws `NotOffered` if only one build can be loaded. */
export function olderUws(): Readonly<Record<string, string>> {
  if (loadUws().package === OLDER.name) throw new NotOffered(`${OLDER.name} is used by every contestant here`);
  return { [BUILD_VARIABLE]: OLDER.name };
}
