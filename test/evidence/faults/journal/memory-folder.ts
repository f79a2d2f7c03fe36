// A folder in memory if possible: files outlive the processes that write them, without waiting for a disk.
import { accessSync, constants } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';

/** The caller must remove it. */
export function memoryFolder(prefix: string): Promise<string> {
  return mkdtemp(join(hasSharedMemory() ? SHARED_MEMORY : tmpdir(), prefix));
}

function hasSharedMemory(): boolean {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
