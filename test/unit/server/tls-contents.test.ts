// A listener that is given the contents of a certificate and its key uses those, whatever is in the files now.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTlsFiles } from '../../../src/server/tls-files.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-contents-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const copies = (): string[] =>
  ['/dev/shm', tmpdir()].flatMap((place) => readdirSync(place).filter((name) => name.startsWith('lingate-pem-')));

function nameAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

describe.each(LISTENERS)('the %s listener', (name, start) => {
  test.each([
    ['are half', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 100))],
    ['are gone', (path: string) => rmSync(path)],
    ['are those of another', () => undefined],
  ])('starts and renews with contents when the files %s, and leaves no copy', async (what, spoil) => {
    const before = copies();
    const files = await makeCertificate(join(folder, `${name} ${what}`), 'first');
    const first = readTlsFiles(files);
    await makeCertificate(join(folder, `${name} ${what}`), 'second');
    const second = readTlsFiles(files);
    await makeCertificate(join(folder, `${name} ${what}`), 'third');
    for (const path of [files.certFile, files.keyFile]) spoil(path);
    const server = await startTestServer(start, { tls: { ...files, contents: first } });
    expect(await nameAt(server.port)).toBe('first');
    expect(server.listener.renewTls({ ...files, contents: second })).toMatchObject({ changed: true });
    expect(await nameAt(server.port)).toBe('second');
    server.close();
    expect(copies()).toEqual(before);
  });
});
