// Reads and checks the certificate and its key, so that a wrong file is one clear line with either library.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ListenError } from './listener.ts';
import type { TlsFiles } from './listener.ts';

export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Throws a `ListenError` that names the file when one cannot be read or the two are not a pair. */
export function readTlsFiles(files: TlsFiles): TlsPair {
  const cert = read('certificate', files.certFile);
  const key = read('key', files.keyFile);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ListenError('cannot_listen', `TLS: ${files.certFile} and ${files.keyFile} are not a PEM certificate and its private key`);
  }
  return { cert, key };
}

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ListenError('cannot_listen', `TLS: the ${what} ${file} cannot be read (${code ?? 'unknown error'})`);
  }
}
