// Reads and checks the certificate and its key, so that a wrong file gives one clear line with either library.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ListenError } from './listener.ts';
import type { TlsFiles, TlsRenewal } from './listener.ts';

/** The files' contents in use, kept to detect changes. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export function samePair(a: TlsPair, b: TlsPair): boolean {
  return a.cert.equals(b.cert) && a.key.equals(b.key);
}

export function renewal(changed: boolean, { cert }: TlsPair): TlsRenewal {
  return { changed, validTo: new Date(new X509Certificate(cert).validTo).toISOString() };
}

/** Throws a `ListenError` that names the file if one cannot be read or the two do not match. */
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
