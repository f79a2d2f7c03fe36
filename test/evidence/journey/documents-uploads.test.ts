// Uploads of documents that are cut off or must not be: a place for each is free again, and nobody's body is read before key and rate.
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { untilOneDay } from '../../support/one-day.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';

const BYTES = 30_000_000;
const config = { documents: { secret: 'a secret of the tests that is long enough' } };

/** The head of an upload whose body of 30 MB does not arrive. */
function headOf(key: string): Buffer {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': String(BYTES),
  };
  return requestBytes({ method: 'POST', path: '/v1/documents', headers });
}

await untilOneDay();
onOneGateway({ config }, (setting) => {
  const open = async (key: string, more = ''): Promise<RawConnection> => {
    const connection = await RawConnection.open({ port: setting.gateway.port });
    connection.send(Buffer.concat([headOf(key), Buffer.from(more)]));
    return connection;
  };

  test('callers who leave in the middle give their places back', async () => {
    const { key } = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, key);
    // A team has four places.
    for (let i = 0; i < 12; i++) {
      const connection = await open(key, '--x\r\n');
      connection.destroy();
    }
    await expect.poll(async () => (await caller.upload({ file: 'Dear all' })).status, { timeout: 30_000 }).toBe(202);
  });

  test('a key that is unknown, revoked or over its rate is refused before any of the body has arrived', async () => {
    const told = async (key: string): Promise<number> => {
      const connection = await open(key);
      const { status } = await connection.response();
      connection.destroy();
      return status;
    };
    const { teams } = setting.gateway.store;
    const revoked = await setting.gateway.team();
    answered(await teams.revokeKey(revoked.keyId));
    expect([await told(`la_live_${'x'.repeat(40)}`), await told(revoked.key)]).toEqual([401, 401]);
    const slow = await setting.gateway.team({ ...QUOTA_PLAN, limits: [{ per: 'day', requests: 1 }] });
    expect((await new DocumentCaller(setting.gateway.port, slow.key).state('01KA6Q4T1V8E5S0H6N3B7W2XJD')).status).toBe(404);
    expect(await told(slow.key)).toBe(429);
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
