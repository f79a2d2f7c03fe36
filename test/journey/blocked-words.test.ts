// The guide's plugin that refuses words, over every front: its own code, no call of the engine, no charge, and not a word of the caller's.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { onOneGateway } from '../support/every-gateway.ts';
import { FACADES, FRONTS } from '../support/fronts.ts';
import { request } from '../support/raw-http.ts';

const MODULE = fileURLToPath(new URL('../../config/examples/blocked-words.ts', import.meta.url));
const WORD = 'project-heron';
const TOKEN = randomBytes(24).toString('hex');
const CONFIG = { plugins: [...FACADES, { module: MODULE, options: { words: [WORD] } }], admin: { token: TOKEN } };

onOneGateway({ config: CONFIG }, (setting) => {
  describe.each(FRONTS)('over $name', (front) => {
    test('a text with the word is refused, another is translated', async () => {
      const team = await setting.gateway.team();
      const before = setting.engine.requests.length;
      const refused = await request({ port: setting.gateway.port, ...front.translation(team.key, ['Hello', `About ${WORD}.`]) });
      expect([refused.status, setting.engine.requests.length]).toEqual([422, before]);
      expect(refused.body).toContain('text.1: has a word');
      expect(refused.body + setting.gateway.logLines.join('')).not.toContain(WORD);
      const good = await request({ port: setting.gateway.port, ...front.translation(team.key, ['Hello']) });
      expect([good.status, front.texts(good.body)]).toEqual([200, ['[DE] Hello']]);
      await expect
        .poll(async () => answered(await setting.gateway.store.teams.standing(team.teamId)))
        .toMatchObject({ usedCharacters: 5, openReservations: 0 });
    });
  });

  test('the console counts them as refused, by their status, and not as failed', async () => {
    const visitor = await ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
    const { body } = await visitor.get('/console');
    expect(body).toMatch(/<span class="dot refused"><\/span>\s*<code>blocked_word<\/code>/);
    expect(body).not.toContain('dot failed');
  });
});
