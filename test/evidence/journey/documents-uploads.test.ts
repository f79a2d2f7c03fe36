// Uploads and downloads of documents that are slow, cut off, too many or too long: what one caller can take from others is bounded and
// comes back, and nothing of it is charged.
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { expectProblem, onEveryGateway, onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { HeldDownload, UNREAD_BYTES } from '../../support/held-download.ts';
import { untilOneDay } from '../../support/one-day.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';

const BYTES = 30_000_000;
const config = { documents: { secret: 'a secret of the tests that is long enough' } };
const SILENT_MS = 2000;

await untilOneDay();

// The uploads that may run are a process's own, whatever its store.
onOneGateway({ config: { ...config, plugins: [{ module: 'lingate/plugins/libretranslate' }] } }, (setting) => {
  /** The beginning of an upload whose body does not arrive. */
  const opened = async (path: string, headers: Readonly<Record<string, string>>, bytes: number): Promise<RawConnection> => {
    const connection = await RawConnection.open({ port: setting.gateway.port });
    const form = { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(bytes) };
    connection.send(requestBytes({ method: 'POST', path, headers: form }));
    return connection;
  };
  const open = (key: string, bytes = BYTES) => opened('/v1/documents', { authorization: `Bearer ${key}` }, bytes);
  /** The statuses of uploads that are never silent for as long as a listener waits. */
  const dripping = async (uploads: readonly RawConnection[], meanwhile = () => Promise.resolve()): Promise<readonly number[]> => {
    for (const upload of uploads) upload.send(Buffer.from('--x\r\n'));
    const drip = setInterval(() => uploads.forEach((upload) => upload.send(Buffer.from('x'))), SILENT_MS);
    const answers = Promise.all(uploads.map(async (upload) => (await upload.response()).status));
    await meanwhile();
    const statuses = await answers;
    clearInterval(drip);
    return statuses.toSorted((a, b) => a - b);
  };

  test('callers who leave in the middle give their places back', async () => {
    const { key } = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, key);
    // A team may have four at a time.
    for (let i = 0; i < 12; i++) {
      const connection = await open(key);
      connection.send(Buffer.from('--x\r\n'));
      connection.destroy();
    }
    await expect.poll(async () => (await caller.upload({ file: 'Dear all' })).status, { timeout: 30_000 }).toBe(202);
  });

  test('a key that is unknown, revoked or over its rate is refused before any of the body has arrived', async () => {
    const answer = async (key: string): Promise<number> => {
      const connection = await open(key);
      const { status } = await connection.response();
      connection.destroy();
      return status;
    };
    const { teams } = setting.gateway.store;
    const revoked = await setting.gateway.team();
    answered(await teams.revokeKey(revoked.keyId));
    expect([await answer(`la_live_${'x'.repeat(40)}`), await answer(revoked.key)]).toEqual([401, 401]);
    const slow = await setting.gateway.team({ ...QUOTA_PLAN, limits: [{ per: 'day', requests: 1 }] });
    expect((await new DocumentCaller(setting.gateway.port, slow.key).state('01KA6Q4T1V8E5S0H6N3B7W2XJD')).status).toBe(404);
    expect(await answer(slow.key)).toBe(429);
  });

  test('a team that sends slowly has a quarter of the places, and loses them', { timeout: 60_000 }, async () => {
    const [slow, quick] = [await setting.gateway.team(), await setting.gateway.team()];
    const slowly = new DocumentCaller(setting.gateway.port, slow.key);
    const uploads = await Promise.all(Array.from({ length: 6 }, () => open(slow.key, 100_000)));
    const statuses = await dripping(uploads, async () => {
      await expect.poll(async () => (await slowly.upload({ file: 'Dear all' })).status).toBe(503);
      await new DocumentCaller(setting.gateway.port, quick.key).uploaded({ file: 'Dear all' });
    });
    // Two had no place; the others were too slow.
    expect(statuses).toEqual([400, 400, 400, 400, 503, 503]);
    await slowly.uploaded({ file: 'Dear all' });
  });

  test('an address without a known key has two places for forms that have the key, and loses them', { timeout: 60_000 }, async () => {
    const uploads = await Promise.all(Array.from({ length: 4 }, () => opened('/translate_file', {}, 100_000)));
    expect(await dripping(uploads)).toEqual([400, 400, 503, 503]);
  });
});

onEveryGateway({ config: { ...config, plans: { test: { ...QUOTA_PLAN, document_bytes: 5000 } } } }, (setting) => {
  test("a team's files have the bytes of its plan, in whatever state they are", async () => {
    const team = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, team.key);
    const file = `Dear all\n\n${'1'.repeat(3000)}\n`;
    const id = await caller.uploaded({ file });
    expectProblem(await caller.upload({ file }), 'rate_limited', { limit: 5000 });
    await caller.reached(id, 'done');
    expectProblem(await caller.upload({ file }), 'rate_limited', { limit: 5000 });
    const other = await setting.gateway.team();
    await new DocumentCaller(setting.gateway.port, other.key).uploaded({ file });
    expect((await caller.remove(id)).status).toBe(204);
    await caller.uploaded({ file });
  });
});

onEveryGateway({ config }, (setting) => {
  test('downloads may break off, overlap and outlast the document: each is whole, and none is charged', async () => {
    const { key, teamId } = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, key);
    const used = async (): Promise<number> => answered(await setting.gateway.store.teams.usage(teamId))!.characters;
    // Long, with little to translate.
    const file = `WEBVTT\n\nNOTE ${'x'.repeat(UNREAD_BYTES)}\n\n00:01.000 --> 00:02.000\nHello\n`;
    const length = file.length + '[DE] '.length;
    const id = await caller.uploaded({ file, fileName: 'a.vtt' });
    await caller.reached(id, 'done');
    expect(await used()).toBe('Hello'.length);
    const headers = { authorization: `Bearer ${key}` };
    const begin = () => HeldDownload.begin({ port: setting.gateway.port, path: `/v1/documents/${id}/result`, headers });
    (await begin()).leave();
    const [first, second] = [await begin(), await begin()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await caller.remove(id)).status).toBe(204);
    expectProblem(await caller.state(id), 'document_not_found');
    expectProblem(await caller.result(id), 'document_not_found');
    expect([await first.finish(), await second.finish()]).toEqual([length, length]);
    expect(answered(await setting.gateway.store.records.list(teamId, 'documents')).size).toBe(0);
    expect(await used()).toBe('Hello'.length);
  });
});

onOneGateway({ store: 'redis', config }, (setting) => {
  test('a document whose sender has left before the answer is removed, and costs nothing', async () => {
    const { key, teamId } = await setting.gateway.team();
    const { teams } = setting.gateway.store;
    // What is translated by then would stay, and be charged.
    setting.engine.always('hang');
    const standing = async () => answered(await teams.standing(teamId))!;
    const upload = [
      ['name="target_lang"', 'DE'],
      ['name="file"; filename="a.txt"', 'Dear all'],
    ].map(([name, value]) => `--x\r\nContent-Disposition: form-data; ${name}\r\n\r\n${value}\r\n`);
    const body = Buffer.from(`${upload.join('')}--x--\r\n`);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=x' };
    const bytes = requestBytes({ method: 'POST', path: '/v1/documents', headers, body });
    const connection = await RawConnection.open({ port: setting.gateway.port });
    connection.send(bytes.subarray(0, -1));
    await expect.poll(async () => (await standing()).openReservations).toBe(1);
    // The store takes its time with the document, and the sender does not.
    const redis = new Redis(setting.url);
    await redis.client('PAUSE', 300);
    connection.send(bytes.subarray(-1));
    await delay(100);
    connection.destroy();
    await expect.poll(async () => (await standing()).openReservations, { timeout: 20_000 }).toBe(0);
    expect(await standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
    redis.disconnect();
  });
});
