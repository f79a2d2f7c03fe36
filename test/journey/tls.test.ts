// TLS on the public listener, from certificate and key files, on either listener and with workers.
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, lingate } from '../support/lingate-command.ts';
import { makeCertificate } from '../support/certificate.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { RawConnection, requestBytes } from '../support/raw-http.ts';
import { logged, opsPage, openSite, translate } from '../support/site.ts';
import type { Site } from '../support/site.ts';
import { LISTENERS } from '../support/listeners.ts';

let site: Site;

beforeAll(async () => {
  site = await openSite();
  await makeCertificate(site.folder, 'lingate.test', 'IP:127.0.0.1');
  writeFileSync(join(site.folder, 'text.pem'), 'not a key\n');
});

afterAll(() => site.close());

/** A request by a client that trusts only our certificate, and reports the one it got. */
async function health(
  url: string,
  place: Site,
  caFile = 'cert.pem',
): Promise<{ status: number | undefined; subject: string; protocol: string | null }> {
  const ca = await readFile(join(place.folder, caFile));
  return new Promise((resolve, reject) => {
    const request = get(`${url}/health`, { ca, agent: false }, (response) => {
      const socket = response.socket as TLSSocket;
      resolve({ status: response.statusCode, subject: String(socket.getPeerCertificate().subject.CN), protocol: socket.getProtocol() });
      response.resume();
    });
    request.once('error', reject);
  });
}

describe.each([
  [LISTENERS[0], '2'],
  ['node', '1'],
])('the %s listener with %s worker(s)', (listener, workers) => {
  // One gateway for both tests, which the second stops.
  let place: Site;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    place = await openSite();
    await makeCertificate(place.folder, 'first.test', 'IP:127.0.0.1');
    await place.configure({ listener, engine: { urls: [place.engine.url] }, tls: { cert_file: 'cert.pem', key_file: 'key.pem' } });
    gateway = await place.serve('--workers', workers);
  });

  afterAll(() => place.close());

  test('callers use TLS 1.3, the ops listener stays plain, files are relative to the configuration', async () => {
    expect(gateway.url).toBe(`https://127.0.0.1:${gateway.port}`);
    expect(await health(gateway.url, place)).toEqual({ status: 200, subject: 'first.test', protocol: 'TLSv1.3' });
    const answer = await translate(gateway.port, place.team.key, { tls: true });
    expect(answer.json()).toMatchObject({ billed_characters: 10 });
    expect(await opsPage(gateway, '/readyz')).toMatch(/^200 \{"ready":true,/);
    expect(await opsPage(gateway, '/openapi.json')).toContain(gateway.url);
    // Without TLS there is no answer.
    expect(await translate(gateway.port, place.team.key).catch(() => 'none')).toBe('none');
  });

  test('on SIGHUP renewed files apply to new connections; a mismatched pair changes nothing', async () => {
    const persistent = await RawConnection.open({ port: gateway.port, tls: true });
    const hangUp = async (message: string, lines: number): Promise<void> => {
      gateway.process.kill('SIGHUP');
      await expect.poll(() => logged(gateway, message).length).toBe(lines);
    };
    await makeCertificate(place.folder, 'second.test', 'IP:127.0.0.1');
    await hangUp('TLS: new connections get the renewed certificate', Number(workers));
    for (let i = 0; i < 6; i++) expect(await health(gateway.url, place)).toMatchObject({ status: 200, subject: 'second.test' });
    persistent.send(requestBytes({ path: '/health' }));
    expect((await persistent.response()).status).toBe(200);
    persistent.destroy();
    const inUse = await readFile(join(place.folder, 'cert.pem'));
    writeFileSync(join(place.folder, 'cert.pem'), 'half of a file');
    // Decided once for all workers.
    await hangUp('TLS: the certificate stays as it was', 1);
    writeFileSync(join(place.folder, 'ca.pem'), inUse);
    for (let i = 0; i < 6; i++) expect(await health(gateway.url, place, 'ca.pem')).toMatchObject({ subject: 'second.test' });
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});

test.each([
  ['a missing certificate', 'none.pem', 'key.pem', /lingate\.yaml: tls\.cert_file: \S+none\.pem cannot be read/],
  ['a missing key', 'cert.pem', 'none.pem', /lingate\.yaml: tls\.key_file: \S+none\.pem cannot be read/],
  [
    'an invalid key',
    'cert.pem',
    'text.pem',
    /lingate\.yaml: TLS: \S+cert\.pem and \S+text\.pem are not a PEM certificate and its private key/,
  ],
  ['a folder', '.', 'key.pem', /lingate\.yaml: TLS: the certificate \S+ cannot be read \(EISDIR\)/],
])('%s is one clear line, and the process exits', async (_name, certFile, keyFile, reason) => {
  await site.configure({ engine: { urls: [site.engine.url] }, tls: { cert_file: certFile, key_file: keyFile } });
  // One of them as a process.
  const run = certFile === 'cert.pem' && keyFile === 'text.pem' ? lingate : inProcess;
  const { status, stdout, stderr } = await run(site.args());
  expect(stderr).toMatch(/^[^\n]*\n$/);
  expect(stderr).toMatch(reason);
  expect(status).toBe(1);
  expect(stdout).not.toContain('ready');
});
