// A folder in memory where there is one: files outlive the processes that write them, and no disk makes those wait.
import { accessSync, constants } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';

/** To be removed by whoever asked for it. */
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
