// DeepL's own client for Node, unchanged, in front of `lingate/plugins/deepl-v2`, on both listeners and stores.
import { DeepLClient } from 'deepl-node';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { onEveryGateway } from '../support/every-gateway.ts';
import type { TestTeam } from '../support/gateway.ts';

onEveryGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  let team: TestTeam;

  beforeAll(async () => {
    team = await setting.gateway.team();
  });
  beforeEach(() => setting.engine.forget());

  const client = (key = team.key): DeepLClient => new DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}` });

  test('one text and a list are translated, each with its language and its price', async () => {
    const one = await client().translateText('Hello', 'en', 'de');
    expect(one).toEqual({ text: '[DE] Hello', detectedSourceLang: 'en', billedCharacters: 5, modelTypeUsed: undefined });
    const list = await client().translateText(['grüße 😀', 'b'], null, 'en-US');
    expect(list.map(({ text }) => text)).toEqual(['[EN-US] grüße 😀', '[EN-US] b']);
    expect(list.map(({ billedCharacters }) => billedCharacters)).toEqual([7, 1]);
  });
});
