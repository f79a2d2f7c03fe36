// Renewed certificates: new connections get them at once, open ones continue, none is lost, and unusable files change nothing.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drain } from '../../../src/server/listener.ts';
import { readTlsFiles } from '../../../src/server/tls-files.ts';
import { makeCertificate } from '../../support/certificate.ts';
import type { CertificateFiles } from '../../support/certificate.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

const NO_PAIR = /are not a PEM certificate and its private key$/;

let folder: string;
const certificates: CertificateFiles[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-tls-'));
  for (const name of ['first', 'second']) certificates.push(await makeCertificate(join(folder, name), name));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The name in the certificate that a new connection gets. */
function nameAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  const live = { certFile: '', keyFile: '' };
  let server: TestServer;

  const install = ({ certFile, keyFile }: CertificateFiles): void => {
    cpSync(certFile, live.certFile);
    cpSync(keyFile, live.keyFile);
  };

  const renew = (to: CertificateFiles): void => {
    install(to);
    expect(server.listener.renewTls(live)).toMatchObject({ changed: true, validTo: expect.stringMatching(/^20.*Z$/) as string });
  };

  beforeEach(async () => {
    [live.certFile, live.keyFile] = [join(folder, 'live.pem'), join(folder, 'live-key.pem')];
    install(certificates[0]!);
    server = await startTestServer(start, { tls: live });
  });

  afterEach(() => server.close());

  test('gives new connections the renewed certificate, however often it is renewed; open ones continue', async () => {
    const open = await RawConnection.open({ port: server.port, tls: true });
    for (const round of [1, 0, 1]) {
      renew(certificates[round]!);
      expect(await nameAt(server.port)).toBe(['first', 'second'][round]);
      open.send(requestBytes({ path: '/sync' }));
      expect((await open.response()).status).toBe(200);
      expect((await request({ port: server.port, tls: true, path: '/async' })).status).toBe(200);
    }
    open.destroy();
  });

  test('reports that the files have not changed', () => {
    expect(server.listener.renewTls(live)).toMatchObject({ changed: false });
  });

  test.each([
    ['a missing file', () => rmSync(live.keyFile), /^TLS: the key .* cannot be read \(ENOENT\)$/],
    ['a file that is not a certificate', () => writeFileSync(live.certFile, 'nothing\n'), NO_PAIR],
    ['a key of another certificate', () => cpSync(certificates[1]!.keyFile, live.keyFile), NO_PAIR],
  ])('keeps the old certificate for %s', async (_what, spoil, message) => {
    spoil();
    expect(() => server.listener.renewTls(live)).toThrow(message);
    expect(await nameAt(server.port)).toBe('first');
    renew(certificates[1]!);
    expect(await nameAt(server.port)).toBe('second');
  });

  test('loses no connection while it is renewed again and again', async () => {
    let renewals = 0;
    let callers = 8;
    const calling = (): boolean => callers > 0;
    const call = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) expect((await request({ port: server.port, tls: true, path: '/async' })).status).toBe(200);
      callers--;
    };
    const renewing = async (): Promise<void> => {
      while (calling()) {
        renew(certificates[++renewals % 2]!);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await Promise.all([...Array.from({ length: 8 }, call), renewing()]);
    expect(renewals).toBeGreaterThan(2);
  });

  test('is drained with all its connections, from before and after a renewal', async () => {
    const before = await RawConnection.open({ port: server.port, tls: true });
    renew(certificates[1]!);
    const behind = await RawConnection.open({ port: server.port, tls: true });
    for (const connection of [before, behind]) connection.send(requestBytes({ path: '/wait' }));
    await server.until(() => server.gateway.inFlight === 2);
    expect(server.listener.connections).toBe(2);
    const drained = drain({ listener: server.listener, gateway: server.gateway, deadlineMs: 10_000 });
    await expect(nameAt(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    for (const connection of [before, behind]) {
      server.letGo();
      server.letGo();
      expect((await connection.response()).headers['connection']).toBe('close');
      await connection.ended;
      connection.destroy();
    }
    expect(await drained).toBe(0);
    expect(server.listener.connections).toBe(0);
  });

  test('when closed, cuts connections without a TLS handshake, from before and after a renewal', async () => {
    const before = await RawConnection.open({ port: server.port });
    renew(certificates[1]!);
    const behind = await RawConnection.open({ port: server.port });
    await expect.poll(() => server.listener.connections).toBe(2);
    server.listener.close();
    await Promise.all([before.ended, behind.ended]);
    await expect.poll(() => server.listener.connections).toBe(0);
  });
});

const copies = (): string[] =>
  ['/dev/shm', tmpdir()].flatMap((place) => readdirSync(place).filter((name) => name.startsWith('lingate-pem-')));

describe.each(LISTENERS)('the %s listener, given the contents of files', (name, start) => {
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
