// 200 uploads of 1 to 1,000 MB, three at once, half of them behind nginx: each arrives whole, and the gateway's memory stays small.
import { afterAll, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { openSite } from '../support/site.ts';
import { startUpstream } from '../support/upstream.ts';
import { memoryOf, sendAll, startNginx, uploadsOf, writeUploadFiles } from '../evidence/forward/upload-run.ts';

const MB = 1_000_000;
const SIZES = [1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000].map((mb) => mb * MB);
/** Each 20 uploads, by place in `SIZES`: half as many for twice the size, roughly, so that the suite ends in time. */
const MIX = [0, 4, 2, 6, 1, 5, 3, 7, 0, 4, 8, 2, 6, 1, 9, 5, 3, 0, 10, 4];
const COUNT = 100;
const AT_ONCE = 3;
const EXTRA_BYTES_MAX = 67_108_864;

const upstream = await startUpstream();
afterAll(() => upstream.close());

test('none fails, and the process grows by less than 64 MiB', { timeout: 3_600_000 }, async () => {
  const site = await openSite();
  const files = await writeUploadFiles(site.folder, SIZES);
  const forward = [
    { path: '/v1/files/*', methods: ['POST'], target: upstream.url, body_bytes: 1000 * MB, charge_characters: 1, timeout_ms: 300_000 },
  ];
  await site.configure({ engine: { urls: [site.engine.url] }, forward, limits: { reservation_seconds: 600 } });
  const gateway = await site.serve();
  const nginx = await startNginx(gateway.port);
  const { key } = site.team;
  const mixed = MIX.map((place) => files[place]!);
  const warmUp = uploadsOf(files.slice(0, 1), AT_ONCE);
  expect(await sendAll({ origin: gateway.url, key, uploads: warmUp, atOnce: AT_ONCE })).toEqual([]);
  const before = memoryOf(gateway.process.pid!).residentBytes;
  for (const origin of [gateway.url, `http://127.0.0.1:${nginx.port}`]) {
    expect(await sendAll({ origin, key, uploads: uploadsOf(mixed, COUNT), atOnce: AT_ONCE })).toEqual([]);
  }
  const grownBytes = memoryOf(gateway.process.pid!).peakBytes - before;
  process.stdout.write(`${2 * COUNT} uploads, ${(grownBytes / 1_048_576).toFixed(0)} MiB more memory at most\n`);
  expect(grownBytes).toBeLessThan(EXTRA_BYTES_MAX);
  const used = { usedCharacters: AT_ONCE + 2 * COUNT, heldCharacters: 0, openReservations: 0 };
  await expect.poll(async () => answered(await site.store.teams.standing(site.team.teamId))).toMatchObject(used);
  await nginx.stop();
  await gateway.end('SIGTERM');
  await site.close();
});
