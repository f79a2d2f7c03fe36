// Reads and checks certificate and key, so that a wrong file gives one clear line with either
// library; and copies them for the library that only reads files, when the originals have changed.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { ListenError } from './listener.ts';
import type { TlsFiles, TlsPair, TlsRenewal } from './listener.ts';

export function samePair(a: TlsPair, b: TlsPair): boolean {
  return a.cert.equals(b.cert) && a.key.equals(b.key);
}

/** Whether the files have these contents now. */
export function isOnDisk(pair: TlsPair, { certFile, keyFile }: TlsFiles): boolean {
  try {
    return samePair(pair, { cert: readFileSync(certFile), key: readFileSync(keyFile) });
  } catch {
    return false;
  }
}

export function renewal(changed: boolean, { cert }: TlsPair): TlsRenewal {
  return { changed, validTo: new Date(new X509Certificate(cert).validTo).toISOString() };
}

/** The contents that came with the files, otherwise those now. Throws like `readTlsFiles`. */
export function pairOf(files: TlsFiles): TlsPair {
  return files.contents ?? readTlsFiles(files);
}

/** Throws a `ListenError` with the file's name if it cannot be read, or the two do not match. */
export function readTlsFiles(files: TlsFiles, bytesOf: (path: string) => Buffer = (path) => readFileSync(path)): TlsPair {
  const cert = read('certificate', files.certFile, bytesOf);
  const key = read('key', files.keyFile, bytesOf);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ListenError('cannot_listen', `TLS: ${files.certFile} and ${files.keyFile} are not a PEM certificate and its private key`);
  }
  return { cert, key };
}

function read(what: string, file: string, bytesOf: (path: string) => Buffer): Buffer {
  try {
    return bytesOf(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ListenError('cannot_listen', `TLS: the ${what} ${file} cannot be read (${code ?? 'unknown error'})`);
  }
}

/** Memory first: a key should reach no disk, and a container may have no other writable folder. */
const FOLDERS = ['/dev/shm', tmpdir()];
const OWNER_ONLY = 0o600;

/** Calls `use` with paths of copies that only this user can read; gone when it returns. */
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
  for (const parent of FOLDERS) {
    try {
      return mkdtempSync(join(parent, 'lingate-pem-'));
    } catch (error) {
      reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    }
  }
  throw new ListenError(
    'cannot_listen',
    `TLS: the files have changed, and copies of those in use can be written neither to ${FOLDERS.join(' nor to ')} (${reason})`,
  );
}
