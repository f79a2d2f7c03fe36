// Where suites put their temporary files: in memory if there is room, because every commit to a database on a disk waits for it.
import { readFileSync, statfsSync } from 'node:fs';

/** Linux's own; containers may have a small one. */
const SHARED_MEMORY = '/dev/shm';
const ROOM_BYTES = 2 * 2 ** 30;

/** Variables for a suite's workers, none where the system's folder for temporary files has to do. */
export function temporaryFilesInMemory(): Record<string, string> {
  return isUsable() ? { TMPDIR: SHARED_MEMORY } : {};
}

/** Tests also start programs and load libraries from their folders, which a system may forbid there. */
function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .findLast((line) => line.split(' ')[1] === SHARED_MEMORY);
    const options = mount?.split(' ')[3]?.split(',') ?? [];
    return bavail * bsize >= ROOM_BYTES && options.includes('rw') && !options.includes('noexec');
  } catch {
    return false;
  }
}
