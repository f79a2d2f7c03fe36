// Copies of a certificate and its key for a library that only reads files, when the originals are no longer what is to be used.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListenError } from './listener.ts';
import type { TlsPair } from './listener.ts';

/** Memory first: a key should not reach a disk, and in a container with a read-only root it is the only writable one. */
const PLACES = ['/dev/shm', tmpdir()];
const OWNER_ONLY = 0o600;

/** Calls `use` with the paths of copies that only this user can read; they are gone when it returns. Throws a `ListenError` if nothing can be written. */
export function withTlsCopies<T>({ cert, key }: TlsPair, use: (certFile: string, keyFile: string) => T): T {
  // Only its owner may enter a folder that `mkdtemp` makes.
  const folder = privateFolder();
  try {
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    writeFileSync(certFile, cert, { mode: OWNER_ONLY });
    writeFileSync(keyFile, key, { mode: OWNER_ONLY });
    return use(certFile, keyFile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function privateFolder(): string {
  let reason = '';
  for (const place of PLACES) {
    try {
      return mkdtempSync(join(place, 'lingate-pem-'));
    } catch (error) {
      reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    }
  }
  throw new ListenError(
    'cannot_listen',
    `TLS: the files have changed, and copies of those in use can be written neither to ${PLACES.join(' nor to ')} (${reason})`,
  );
}
