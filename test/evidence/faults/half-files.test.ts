// Files of the configuration are cut off at random places while callers are served: nothing changes, and each is one line in the log.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { makeCertificate } from '../../support/certificate.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { request } from '../../support/raw-http.ts';
import { logged, openSite, translate, workersOf } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';
import { openLoop } from './pace.ts';
import { seeded } from './seeded.ts';

const FILES = process.env[COMMAND_VARIABLE] === 'test:long' ? 500 : 16;
/** After one file in so many, both workers die before it is whole again. */
const DEATHS_EVERY = Math.min(FILES, 50);
const PER_SECOND = 10;
const TOKEN = 'operator-token-'.padEnd(64, '0123456789');
const CONFIG = new URL('../../../config/', import.meta.url);

const REFUSED = 'configuration refused: all stays as it was';
const KEPT = 'TLS: the certificate stays as it was';

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site.close());

/** The configuration that comes with the gateway, with all that may be a file. */
async function writeFiles(): Promise<string[]> {
  const write = (name: string, text: string | Buffer): void => writeFileSync(join(site.folder, name), text);
  const other = await makeCertificate(join(site.folder, 'other'), 'other.test');
  const { certFile } = await makeCertificate(site.folder, 'lingate.test', 'IP:127.0.0.1');
  // A chain, whose beginning is a certificate too.
  write('cert.pem', Buffer.concat([certFile, other.certFile].map((path) => readFileSync(path))));
  write('languages.yaml', readFileSync(new URL('languages.yaml', CONFIG)));
  write('token', TOKEN);
  const shipped = readFileSync(new URL('lingate.yaml', CONFIG), 'utf8')
    .replace('http://127.0.0.1:7001', site.engine.url)
    // A busy machine must not refuse anyone.
    .replace('command_timeout_ms: 500', 'command_timeout_ms: 10000')
    .replace('shed_loop_delay_ms: 200', 'shed_loop_delay_ms: 0');
  const added = { tls: { cert_file: 'cert.pem', key_file: 'key.pem' }, admin: { token: { file: 'token' } } };
  const plans = `  last: ${JSON.stringify(QUOTA_PLAN)}\n`;
  const sections = Object.entries(added).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  write('lingate.yaml', sections.join('') + shipped.replace(/^plans:\n/m, `$&${plans}`));
  return ['lingate.yaml', 'lingate.yaml', 'languages.yaml', 'cert.pem', 'key.pem', 'token'];
}

/** What callers and operators see. */
async function behaviour(gateway: GatewayProcess): Promise<unknown[]> {
  const caller = { port: gateway.port, tls: true, headers: { Authorization: `Bearer ${site.team.key}` } };
  const operator = { port: Number(new URL(gateway.opsUrl).port), headers: { Authorization: `Bearer ${TOKEN}`, Host: '127.0.0.1' } };
  const answers = await Promise.all([
    request({ ...caller, path: '/v1/languages?type=target' }),
    request({ ...operator, path: '/admin/v1/plans' }),
  ]);
  return [...answers.map(({ status, body }) => [status, body]), await fingerprint(gateway.port)];
}

function fingerprint(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      // With all that the server sent.
      const chain = [socket.getPeerCertificate(true)];
      resolve(JSON.stringify(chain.map(({ fingerprint256, issuerCertificate }) => [fingerprint256, issuerCertificate?.fingerprint256])));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

const errors = (gateway: GatewayProcess): number => logged(gateway, REFUSED).length + logged(gateway, KEPT).length;

async function renewWorkers(gateway: GatewayProcess): Promise<void> {
  const replaced = logged(gateway, 'a worker was replaced').length;
  // One after the other: callers are served all the time.
  for (const [index, pid] of workersOf(gateway).entries()) {
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => logged(gateway, 'a worker was replaced').length).toBe(replaced + index + 1);
  }
}

test(`${FILES} files that were cut off change nothing`, async () => {
  const drawn = seeded();
  const names = await writeFiles();
  const gateway = await site.serve('--workers', '2');
  const before = await behaviour(gateway);
  const statuses = new Map<number | string, number>();
  let going = true;
  let dying = false;
  const load = openLoop(
    PER_SECOND,
    () => going,
    async () => {
      const status = await translate(gateway.port, site.team.key, { tls: true }).then(
        (answer) => answer.status,
        () => (dying ? 'with its worker' : 'none'),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
  );
  for (let count = 1; count <= FILES; count++) {
    const path = join(site.folder, drawn.oneOf(names));
    const whole = readFileSync(path);
    const length = count % 10 === 0 ? 0 : drawn.between(0, whole.toString().trimEnd().length - 1);
    const what = `seed ${drawn.seed}, file ${count}: ${length} of ${whole.length} bytes of ${path}`;
    writeFileSync(path, whole.subarray(0, length));
    gateway.process.kill('SIGHUP');
    await expect.poll(() => errors(gateway), { message: what }).toBe(count);
    if (count % DEATHS_EVERY === 0) {
      dying = true;
      await renewWorkers(gateway);
      dying = false;
    }
    expect(await behaviour(gateway), what).toEqual(before);
    writeFileSync(path, whole);
  }
  going = false;
  await load;
  expect(errors(gateway)).toBe(FILES);
  expect([...statuses.keys()].filter((status) => status !== 'with its worker')).toEqual([200]);
  // All of them came here, and none to the default address.
  expect(site.engine.requests.length).toBeGreaterThanOrEqual(statuses.get(200)!);
  gateway.process.kill('SIGHUP');
  await expect.poll(() => logged(gateway, 'configuration reloaded').at(-1)).toMatchObject({ plans: 'last free pro prepaid' });
  expect(await gateway.end('SIGTERM')).toBe(0);
}, 600_000);
