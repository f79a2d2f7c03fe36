// `style_rules: pass`: parameters of style reach engines that take them, and are refused by name where none does.
import { DeepLClient } from 'deepl-node';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { answered } from '../../src/index.ts';
import { ask } from '../support/every-gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startedUntil } from '../support/started.ts';
import { SUBJECTS } from '../unit/engines/protocols/subjects.ts';

const STYLE = {
  style_id: 'a1b2',
  translation_memory_id: 'c3d4',
  translation_memory_threshold: 80,
  custom_instructions: ['Be brief.', 'Use “Sie”.'],
};
const FORM = 'application/x-www-form-urlencoded';

describe('a gateway with three engines', () => {
  const started = startedUntil(afterAll);
  let engines: Readonly<Record<'deepl' | 'openai' | 'native', ScriptedEngine>>;
  let gateway: TestGateway;
  let team: TestTeam;

  beforeAll(async () => {
    const engineOf = (name: string) => started.engine({ right: SUBJECTS[name]!.right });
    engines = { deepl: await engineOf('deepl'), openai: await engineOf('openai'), native: await started.engine() };
    gateway = await started.gateway({
      config: {
        engines: {
          native: { urls: [engines.native.url] },
          openai: { protocol: 'openai', urls: [engines.openai.url], options: { model: 'm' } },
          deepl: { protocol: 'deepl', urls: [engines.deepl.url], options: { api_key: 'k' } },
        },
        routing: [
          { pairs: ['*-FR'], engines: ['native'] },
          { pairs: ['*-ES'], engines: ['native', 'openai'] },
          { engines: ['native', 'openai', 'deepl'] },
        ],
        plugins: [{ module: 'lingate/plugins/memory' }, { module: 'lingate/plugins/deepl-v2', options: { style_rules: 'pass' } }],
      },
    });
    team = await gateway.team();
  });
  beforeEach(() => {
    for (const engine of Object.values(engines)) engine.forget();
  });

  const post = (body: unknown, type = 'application/json'): Promise<HttpResponse> =>
    ask({ gateway }, { method: 'POST', path: '/v2/translate', key: team.key, headers: { 'content-type': type }, body });
  const translate = (more: object, target = 'DE'): Promise<HttpResponse> => post({ text: ['Hello'], target_lang: target, ...more });
  const asked = (): readonly (readonly [string, number])[] =>
    Object.entries(engines).flatMap(([name, { requests }]) => (requests.length === 0 ? [] : [[name, requests.length] as const]));
  const bodyOf = (engine: ScriptedEngine): Readonly<Record<string, unknown>> =>
    JSON.parse(engine.requests[0]!.body) as Readonly<Record<string, unknown>>;

  test('all of them go to the engine that takes them, as JSON and as a form', async () => {
    expect((await translate(STYLE)).status).toBe(200);
    expect(asked()).toEqual([['deepl', 1]]);
    expect(bodyOf(engines.deepl)).toMatchObject(STYLE);
    engines.deepl.forget();
    const { custom_instructions: instructions, ...rest } = STYLE;
    const fields = new URLSearchParams({ text: 'Bye', target_lang: 'DE', ...rest, translation_memory_threshold: '80' });
    for (const one of instructions) fields.append('custom_instructions', one);
    expect((await post(fields.toString(), FORM)).status).toBe(200);
    expect(bodyOf(engines.deepl)).toMatchObject(STYLE);
  });

  test("DeepL's own client sends them", async () => {
    const client = new DeepLClient(team.key, { serverUrl: `http://127.0.0.1:${gateway.port}` });
    await client.translateText('By the client', null, 'de', {
      styleRule: STYLE.style_id,
      translationMemory: STYLE.translation_memory_id,
      translationMemoryThreshold: STYLE.translation_memory_threshold,
      customInstructions: STYLE.custom_instructions,
    });
    expect(bodyOf(engines.deepl)).toMatchObject(STYLE);
  });

  test('instructions alone also go to a language model, as data of its prompt', async () => {
    expect((await translate({ custom_instructions: ['Be brief.'] }, 'ES')).status).toBe(200);
    expect(asked()).toEqual([['openai', 1]]);
    const { messages } = bodyOf(engines.openai) as { messages: { role: string; content: string }[] };
    expect(JSON.parse(messages[1]!.content)).toMatchObject({ instructions: ['Be brief.'] });
    expect(messages[0]!.content).not.toContain('Be brief.');
  });

  test('where no engine takes them, they are refused by name, and cost nothing', async () => {
    const usage = async () => answered(await gateway.store.teams.standing(team.teamId))?.usedCharacters;
    await expect.poll(async () => answered(await gateway.store.teams.standing(team.teamId))?.openReservations).toBe(0);
    const before = await usage();
    for (const [name, value] of Object.entries(STYLE)) {
      const response = await translate({ [name]: value }, 'FR');
      expect([response.status, response.json()]).toMatchObject([400, { detail: expect.stringContaining(`'${name}'`) as string }]);
    }
    const styled = await translate({ style_id: 'x' }, 'ES');
    expect([styled.status, styled.json()]).toMatchObject([400, { detail: expect.stringContaining("'style_id'") as string }]);
    expect(asked()).toEqual([]);
    expect(await usage()).toBe(before);
  });

  test('requests without them go to the first engine, also if they are there and empty', async () => {
    const nothing = { style_id: '', translation_memory_id: null, custom_instructions: [], translation_memory_threshold: '' };
    expect((await translate({ ...nothing, text: ['plain'] })).status).toBe(200);
    expect((await translate({ custom_instructions: ['', ''], text: ['plain too'] })).status).toBe(200);
    expect(asked()).toEqual([['native', 2]]);
    expect(engines.native.requests.map(({ body }) => Object.keys(JSON.parse(body) as object))).toEqual([
      ['text', 'target_lang'],
      ['text', 'target_lang'],
    ]);
  });

  test('the memory answers the same style alone', async () => {
    const styles = [
      { style_id: 'a' },
      { style_id: 'b' },
      { translation_memory_id: 'a' },
      { style_id: 'a', translation_memory_threshold: 0 },
    ];
    for (const style of [...styles, { style_id: 'a', custom_instructions: ['x'] }, ...styles]) {
      expect((await translate({ ...style, text: ['remembered'] })).status).toBe(200);
    }
    expect(asked()).toEqual([['deepl', styles.length + 1]]);
  });

  test.each([
    [{ translation_memory_threshold: 101 }, 'translation_memory_threshold'],
    [{ translation_memory_threshold: -1 }, 'translation_memory_threshold'],
    [{ translation_memory_threshold: 1.5 }, 'translation_memory_threshold'],
    [{ translation_memory_threshold: '1e1' }, 'translation_memory_threshold'],
    [{ style_id: 'x'.repeat(101) }, 'style_id'],
    [{ style_id: ['a', 'b'] }, 'style_id'],
    [{ translation_memory_id: 7 }, 'translation_memory_id'],
    [{ custom_instructions: Array.from({ length: 11 }, () => 'a') }, 'custom_instructions'],
    [{ custom_instructions: ['é'.repeat(301)] }, 'custom_instructions[0]'],
    [{ custom_instructions: ['a', 1] }, 'custom_instructions[1]'],
    [{ custom_instructions: ['\ud83d'] }, 'custom_instructions[0]'],
    [{ custom_instructions: { a: 'b' } }, 'custom_instructions'],
  ])('%j is a 400', async (body, name) => {
    const response = await translate(body);
    expect([response.status, response.json()]).toMatchObject([400, { detail: expect.stringContaining(`'${name}`) as string }]);
    expect(asked()).toEqual([]);
  });

  test('ten instructions of 300 characters are fine', async () => {
    expect((await translate({ custom_instructions: Array.from({ length: 10 }, () => '😀'.repeat(300)) })).status).toBe(200);
  });
});
