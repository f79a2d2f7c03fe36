// Uploads longer than any other body: each arrives whole through whatever `listener: auto` is then, and memory does not grow with them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { logged, openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { startUpstream } from '../../support/upstream.ts';
import { memoryOf, sendAll, startNginx, uploadsOf, writeUploadFiles } from './upload-run.ts';
import type { UploadFile } from './upload-run.ts';

const MB = 1_000_000;
const SIZES = [1, 10, 60, 150].map((mb) => mb * MB);
const COUNT = 12;
const AT_ONCE = 3;
const EXTRA_BYTES_MAX = 67_108_864;
const CHARGE = 7;
const BODY_BYTES_MAX = 2000 * MB;

const upstream = await startUpstream();
afterAll(() => upstream.close());

let site: Site;
let gateway: GatewayProcess;
let files: readonly UploadFile[];

beforeAll(async () => {
  site = await openSite();
  files = await writeUploadFiles(site.folder, SIZES);
  const forward = [{ path: '/v1/files/*', methods: ['POST'], target: upstream.url, body_bytes: BODY_BYTES_MAX, charge_characters: CHARGE }];
  await site.configure({ engine: { urls: [site.engine.url] }, forward });
  gateway = await site.serve();
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  await site.close();
});

const standing = async () => answered(await site.store.teams.standing(site.team.teamId));

test('`listener: auto` is node:http, and one line says why', () => {
  const [line] = logged(gateway, 'listener: auto is node:http, because uWebSockets.js cannot hold back long bodies');
  expect(line).toMatchObject({
    level: 'info',
    reason: `forward: /v1/files/* takes bodies of ${BODY_BYTES_MAX} bytes, more than limits.body_bytes (1048576)`,
  });
  expect(gateway.output()).toContain(`"listener":"node:http ${process.versions.node}"`);
});

test('directly and behind nginx, three at once', async () => {
  const pid = gateway.process.pid!;
  const { key } = site.team;
  const nginx = await startNginx(gateway.port);
  expect(await sendAll({ origin: gateway.url, key, uploads: uploadsOf(files.slice(0, 1), AT_ONCE), atOnce: AT_ONCE })).toEqual([]);
  const before = memoryOf(pid).residentBytes;
  for (const origin of [gateway.url, `http://127.0.0.1:${nginx.port}`]) {
    expect(await sendAll({ origin, key, uploads: uploadsOf(files, COUNT), atOnce: AT_ONCE })).toEqual([]);
  }
  const grown = memoryOf(pid).peakBytes - before;
  expect(grown).toBeLessThan(EXTRA_BYTES_MAX);
  await expect.poll(standing).toMatchObject({ usedCharacters: CHARGE * (AT_ONCE + 2 * COUNT), heldCharacters: 0, openReservations: 0 });
  await nginx.stop();
});
