// Nobody is charged for what was not written to their connection: requests pipelined behind a slow one, then a reset or a half-close.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { onEveryGateway } from '../../support/every-gateway.ts';
import { FACADES } from '../../support/fronts.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';

const PIPELINED = 60;
const TEXT = 'x'.repeat(100);
const TRANSLATION = { target_lang: 'DE', text: [TEXT] };
const FRONTS = [
  ['/v1/translate', TRANSLATION],
  ['/v2/translate', TRANSLATION],
  ['/translate', { q: TEXT, source: 'en', target: 'de' }],
  ['/translator/text/v3.0/translate?api-version=3.0&to=de', [{ Text: TEXT }]],
  ['/language/translate/v2', { q: TEXT, source: 'en', target: 'de' }],
] as const;

const config = {
  plugins: FACADES,
  // The first call must still be at the engine when its caller leaves, on a slow machine too: after a deadline its second
  // attempt would be answered, and an answer that is written is charged.
  engine: { timeout_ms: 20_000 },
  store_options: { command_timeout_ms: 5000 },
  plans: {
    free: {
      billing: 'quota',
      requests_per_second: 1000,
      max_characters_per_request: 1000,
      max_glossaries: 1,
      characters: 1_000_000,
      currency: 'EUR',
    },
  },
};

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

onEveryGateway({ config }, (setting) => {
  let held: ServerResponse[];
  let team: Awaited<ReturnType<typeof setting.gateway.team>>;

  beforeEach(async () => {
    held = [];
    team = await setting.gateway.team();
    setting.engine.always('ok');
  });

  /** The first call waits until it is released; later ones are answered at once. */
  const holdFirst = (): void =>
    setting.engine.always((_received, response) => {
      held.push(response);
      setting.engine.always('ok');
    });

  const bytesOf = (path: string, body: object): Buffer =>
    requestBytes({
      method: 'POST',
      path,
      headers: { Authorization: `Bearer ${team.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** Everything that the connection sent has been read once requests that came later have been answered. */
  async function readAll(): Promise<void> {
    for (let i = 0; i < 3; i++) await request({ port: setting.gateway.port, path: '/health' });
  }

  test.each(FRONTS)('%s: 0 characters for callers who leave before the first answer', async (path, body) => {
    for (const leave of ['reset', 'finish'] as const) {
      holdFirst();
      const connection = await RawConnection.open({ port: setting.gateway.port });
      connection.send(Buffer.concat(Array.from({ length: PIPELINED }, () => bytesOf(path, body))));
      // uWebSockets.js closes such a connection, perhaps before its first request has reached the engine.
      let isOver = false;
      void connection.ended.then(() => (isOver = true));
      await until(() => isOver || held.length > 0);
      await readAll();
      expect(connection.unread, 'what was written before its caller left').toBe('');
      connection[leave]();
      await readAll();
      for (const response of held.splice(0)) response.destroy();
      await connection.ended;
      connection.destroy();
      await expect
        .poll(() => setting.gateway.store.teams.standing(team.teamId))
        .toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
    }
  });

  test('every character that was read is charged, once, if the caller stays', async () => {
    if (setting.listener === 'uws') return expect(setting.listener).toBe('uws');
    const connection = await RawConnection.open({ port: setting.gateway.port });
    connection.send(Buffer.concat(Array.from({ length: PIPELINED }, () => bytesOf('/v1/translate', TRANSLATION))));
    for (let i = 0; i < PIPELINED; i++) expect((await connection.response()).status).toBe(200);
    connection.destroy();
    await expect
      .poll(() => setting.gateway.store.teams.standing(team.teamId))
      .toMatchObject({ usedCharacters: PIPELINED * TEXT.length, heldCharacters: 0, openReservations: 0 });
  });
});
