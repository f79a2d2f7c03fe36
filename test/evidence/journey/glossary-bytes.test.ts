// limits.glossary_bytes on every front: exactly as many bytes as configured, then 403 with the contract's member; dictionaries that several glossaries name count once.
import { expect, test } from 'vitest';
import { ask, onEveryGateway } from '../../support/every-gateway.ts';
import { uuidOf } from '../../support/door/terms.ts';

const CONFIG = { limits: { glossary_bytes: 10 }, plugins: [{ module: 'lingate/plugins/deepl-v2' }] };

onEveryGateway({ config: CONFIG }, (setting) => {
  const asked = async (key: string, method: string, path: string, body: object) => {
    const answer = await ask(setting, { method, path, key, body });
    return { status: answer.status, body: JSON.parse(answer.body) as Record<string, unknown> };
  };
  const pair = { source_lang: 'EN', target_lang: 'DE' };
  const reached = { status: 403, body: { code: 'glossary_limit_reached', max_glossaries: 2 } };

  test('the bytes of a team can be filled exactly by creation and change on /v1, /v2 and /v3, and not exceeded by one', async () => {
    const { key } = await setting.gateway.team();
    const v1 = (entries: object) => asked(key, 'POST', '/v1/glossaries', { name: 'n', ...pair, entries });
    expect(await v1({ term: 'Begriff' })).toMatchObject(reached);
    const made = await v1({ one: 'é' });
    expect(made.status).toBe(201);
    const id = String(made.body['glossary_id']);
    const v2 = { name: 'n', ...pair, entries: 'ab\tcdef', entries_format: 'tsv' };
    const reply = { ...reached.body, message: expect.any(String) as string };
    expect(await asked(key, 'POST', '/v2/glossaries', v2)).toMatchObject({ ...reached, body: reply });
    const dictionary = (entries: string) => ({ source_lang: 'en', target_lang: 'de', entries, entries_format: 'tsv' });
    const path = `/v3/glossaries/${uuidOf(id)}`;
    expect(await asked(key, 'PATCH', path, { dictionaries: [dictionary('two\tzwei')] })).toMatchObject(reached);
    expect((await asked(key, 'PATCH', path, { dictionaries: [dictionary('two\tzw')] })).status).toBe(200);
    expect(await asked(key, 'PUT', `${path}/dictionaries`, dictionary('12345\t678901'))).toMatchObject(reached);
    expect((await asked(key, 'PUT', `${path}/dictionaries`, dictionary('1\t2'))).status).toBe(200);
    expect((await v1({ abcd: 'efgh' })).status).toBe(201);
  });
});
