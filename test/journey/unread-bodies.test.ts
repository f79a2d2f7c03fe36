// An unknown caller costs next to nothing: keys are checked before bodies are read, and a long body only after key and rate.
import { expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { onEveryGateway } from '../support/every-gateway.ts';
import { FACADES, FRONTS, V1 } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const SLOTS = 4;
/** Many more than there are slots. */
const MANY = 40;
const LONG_BYTES = 200_000;
/** On a busy machine; waiting for a body would take at least five seconds. */
const SOON_MS = 4_000;
const ONE_A_SECOND = { ...QUOTA_PLAN, requests_per_second: 1 };
/** Those with the key in a field, which can be checked before the body arrives. */
const BY_FIELD: readonly Front[] = FRONTS.map((front) => ({
  ...front,
  translation: (key, text) => {
    const asked = front.translation('', text);
    return { ...asked, headers: { ...asked.headers, authorization: `Bearer ${key}` } };
  },
}));

let drawn = 0;
/** An unknown key, another each time, so that it is not cached. */
const randomKey = (): string => `la_live_${String(drawn++).padStart(40, 'x')}`;
/** The head of a request whose body never arrives. */
const headWith = (front: Front, key: string, fields: Readonly<Record<string, string>>): Buffer => {
  const { body: _never, ...asked } = front.translation(key, ['Hello']);
  return requestBytes({ ...asked, headers: { ...asked.headers, ...fields } });
};
const headOf = (front: Front, key: string, bytes: number): Buffer => headWith(front, key, { 'content-length': String(bytes) });
const CHUNKS = { 'transfer-encoding': 'chunked' };
const chunkOf = (bytes: number): string => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;

onEveryGateway({ config: { plugins: FACADES, limits: { concurrency: SLOTS } } }, (setting) => {
  const open = async (bytes: Buffer): Promise<RawConnection> => {
    const connection = await RawConnection.open({ port: setting.gateway.port });
    connection.send(bytes);
    return connection;
  };
  const reply = async (bytes: Buffer): Promise<HttpResponse> => {
    const connection = await open(bytes);
    const response = await connection.response();
    connection.destroy();
    return response;
  };
  const translate = (key: string): Promise<HttpResponse> => request({ port: setting.gateway.port, ...V1.translation(key, ['Hello']) });

  test.each(BY_FIELD)(
    'an unknown key is refused before its body, whatever the head says of the body and the connection ($name)',
    async (front) => {
      const key = randomKey();
      const head = (fields: Readonly<Record<string, string>>): Buffer => headWith(front, key, fields);
      const unfinished = [
        head(CHUNKS),
        head({ ...CHUNKS, connection: 'close' }),
        Buffer.concat([head(CHUNKS), Buffer.from(chunkOf(1000))]),
        Buffer.concat([head(CHUNKS), Buffer.from(chunkOf(40_000))]),
        head({ 'content-length': '1000' }),
        head({ 'content-length': String(LONG_BYTES) }),
        head({ 'content-length': '1000', connection: 'close' }),
        head({ 'content-length': '100000000' }),
      ];
      let delayed = false;
      const timer = setTimeout(() => (delayed = true), SOON_MS);
      // The second time the process has it in its cache.
      for (let i = 0; i < 2; i++) {
        const answers = await Promise.all(unfinished.map(reply));
        expect(answers.map((answer) => answer.status)).toEqual(unfinished.map(() => front.statuses.unauthorized));
      }
      clearTimeout(timer);
      expect(delayed).toBe(false);
    },
  );

  test.each(BY_FIELD)('the rest of a refused body is read and dropped, so the connection visibly does not hang ($name)', async (front) => {
    const connection = await open(headOf(front, randomKey(), 100_000));
    expect((await connection.response()).status).toBe(front.statuses.unauthorized);
    connection.send(Buffer.alloc(100_000, 0x20));
    // It either ends or continues with the next request.
    connection.send(requestBytes({ path: '/health' }));
    const next = await connection.response().catch(() => undefined);
    expect([undefined, 200]).toContain(next?.status);
    connection.destroy();
  });

  test('bodies that never end take no slots: with unknown keys, a revoked key and good ones', async () => {
    const [good, revoked] = [await setting.gateway.team(), await setting.gateway.team()];
    // Their owners are cached.
    expect((await translate(good.key)).status).toBe(200);
    expect((await translate(revoked.key)).status).toBe(200);
    answered(await setting.gateway.store.teams.revokeKey(revoked.keyId));
    const keys = [randomKey, () => revoked.key, () => good.key];
    const held = await Promise.all(Array.from({ length: MANY }, (_none, index) => open(headOf(V1, keys[index % 3]!(), 1000))));
    for (let i = 0; i < 3; i++) expect((await translate(good.key)).status).toBe(200);
    for (const connection of held) connection.destroy();
  });

  test.each(BY_FIELD)('a long body beyond the rate is refused before it has arrived, and takes no slot ($name)', async (front) => {
    const team = await setting.gateway.team(ONE_A_SECOND);
    let refused: HttpResponse | undefined;
    // On a busy machine the second may be over.
    for (let i = 0; i < 50 && refused === undefined; i++) {
      await request({ port: setting.gateway.port, ...front.translation(team.key, ['Hello']) });
      const connection = await open(headOf(front, team.key, LONG_BYTES));
      refused = await Promise.race([connection.response(), request({ port: setting.gateway.port, path: '/health' }).then(() => undefined)]);
      refused ??= await Promise.race([
        connection.response(),
        new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 300)),
      ]);
      connection.destroy();
    }
    expect(refused?.status).toBe(front.statuses.rate_limited);
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused?.headers['x-ratelimit-limit']).toBe('1');
  });

  test.each(BY_FIELD)('a long body of a revoked key is refused before it has arrived, announced or not ($name)', async (front) => {
    const team = await setting.gateway.team();
    expect((await request({ port: setting.gateway.port, ...front.translation(team.key, ['Hello']) })).status).toBe(200);
    answered(await setting.gateway.store.teams.revokeKey(team.keyId));
    expect((await reply(headOf(front, team.key, LONG_BYTES))).status).toBe(front.statuses.key_revoked);
    const connection = await open(Buffer.concat([headWith(front, team.key, CHUNKS), Buffer.from(chunkOf(40_000))]));
    expect((await connection.response()).status).toBe(front.statuses.key_revoked);
    connection.destroy();
  });

  test.each(BY_FIELD)('a good long body is translated, whole or in pieces, and counts once ($name)', async (front) => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 3 });
    const asked = front.translation(team.key, ['Hello']);
    const form = /^[[{]/.test(asked.body) ? asked.body.padEnd(LONG_BYTES, ' ') : asked.body + '&'.repeat(LONG_BYTES);
    const whole = requestBytes({ ...asked, body: form });
    expect((await reply(whole)).status).toBe(200);
    const pieces = await RawConnection.open({ port: setting.gateway.port });
    await pieces.sendPieces([whole.subarray(0, 50_000), whole.subarray(50_000, 100_000), whole.subarray(100_000)], { gapMs: 5 });
    expect((await pieces.response()).status).toBe(200);
    pieces.destroy();
    const length = Buffer.byteLength(form);
    const chunks = Buffer.concat([headWith(front, team.key, CHUNKS), Buffer.from(`${length.toString(16)}\r\n${form}\r\n0\r\n\r\n`)]);
    expect((await reply(chunks)).status).toBe(200);
    const usage = answered(await setting.gateway.store.teams.standing(team.teamId));
    expect(usage!.usedCharacters + usage!.heldCharacters).toBe(15);
  });

  test('a key in a long body is found wherever it stands', async () => {
    const { key } = await setting.gateway.team();
    const post = async (contentType: string, body: string): Promise<number> =>
      (await request({ port: setting.gateway.port, method: 'POST', path: '/translate', headers: { 'content-type': contentType }, body }))
        .status;
    const json = (filler: number): string => `{"x":"${'a'.repeat(filler)}","q":"Hello","source":"en","target":"de","api_key":"${key}"}`;
    const form = (filler: number): string => `x=${'a'.repeat(filler)}&q=Hello&source=en&target=de&api_key=${key}&y=1`;
    const part = (name: string, value: string): string => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const parts = (filler: number): string =>
      `${part('x', 'a'.repeat(filler))}${part('q', 'Hello')}${part('source', 'en')}${part('target', 'de')}${part('api_key', key)}${part('y', '1')}--B--`;
    for (const [type, body] of [
      ['application/json', json],
      ['application/x-www-form-urlencoded', form],
      ['multipart/form-data; boundary=B', parts],
    ] as const) {
      for (const filler of [10, 40_000, 64_000, 66_000, 500_000])
        expect([type, filler, await post(type, body(filler))]).toEqual([type, filler, 200]);
    }
    expect(await post('application/json', json(40_000).replace(key, randomKey()))).toBe(403);
    expect(await post('application/x-www-form-urlencoded', `api_key=${key}&${'a=b&'.repeat(10_000)}`)).toBe(400);
  });
});
