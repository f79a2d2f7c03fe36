// Real text through the gateway and a real engine: Apertium, English to Spanish and back.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApertium } from '../support/apertium.ts';
import type { Apertium } from '../support/apertium.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';

interface Success {
  readonly translations: readonly { readonly text: string; readonly detected_source_language?: string }[];
  readonly billed_characters: number;
}

describe('in front of Apertium', () => {
  let apertium: Apertium;
  let gateway: TestGateway;
  let folder: string;
  let team: TestTeam;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-apertium-'));
    apertium = await startApertium();
    const config = { engine: { protocol: 'apertium', timeout_ms: 10_000 } };
    gateway = await startGateway({ listener: 'uws', store: `sqlite:${folder}/lingate.db`, engineUrls: [apertium.url], config });
    team = await gateway.team();
  });

  afterAll(async () => {
    await gateway.stop();
    await apertium.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function translate(body: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${team.key}` },
      body: JSON.stringify(body),
    });
  }

  test('English comes back in Spanish, and Spanish in English, charged by their code points', async () => {
    const there = (await (await translate({ text: ['The house is big.'], source_lang: 'EN', target_lang: 'ES' })).json()) as Success;
    expect(there).toEqual({ translations: [{ detected_source_language: 'EN', text: 'La casa es grande.' }], billed_characters: 17 });
    const back = (await (
      await translate({ text: ['La casa es grande.', 'El perro.'], source_lang: 'es', target_lang: 'en-us' })
    ).json()) as Success;
    expect(back.translations.map(({ text }) => text)).toEqual(['The house is big.', 'The dog.']);
    expect(back.billed_characters).toBe(27);
  });

  test('a pair that Apertium lacks is a 503 engine_unavailable after two attempts, charged nothing', async () => {
    const fresh = await gateway.team();
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${fresh.key}` },
      body: JSON.stringify({ text: ['Hello'], source_lang: 'EN', target_lang: 'JA' }),
    });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    const id = response.headers.get('x-request-id')!;
    expect(await response.json()).toMatchObject({ code: 'engine_unavailable', request_id: id });
    await expect.poll(() => gateway.store.teams.standing(fresh.teamId)).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
    await expect.poll(() => gateway.logLines.find((line) => line.includes(id) && line.includes('"engine_attempts":2'))).toBeDefined();
    expect(gateway.logLines.some((line) => line.includes(id) && line.includes('unsupported_pair unsupported_pair'))).toBe(true);
  });
});
