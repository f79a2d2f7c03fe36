// Creates a self-signed certificate and its key with openssl: the repository contains no key, and no certificate that could expire.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { outputOf } from './start-program.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Writes `cert.pem` and `key.pem` into the folder. `altName` is for example `IP:127.0.0.1`. */
export async function makeCertificate(folder: string, commonName: string, altName?: string): Promise<CertificateFiles> {
  await mkdir(folder, { recursive: true });
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const names = ['-subj', `/CN=${commonName}`, ...(altName === undefined ? [] : ['-addext', `subjectAltName=${altName}`])];
  await outputOf('openssl', ['req', '-x509', ...key, '-out', certFile, ...names, '-days', '30']);
  return { certFile, keyFile };
}
