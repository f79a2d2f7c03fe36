// The deepl adapter: it sends what the official client sends, splits what is too large, and recognizes the operator's quota.
import * as deepl from 'deepl-node';
import { describe, expect, test } from 'vitest';
import { answer, status } from '../../../../src/testing/scripted-engine.ts';
import type { ScriptedRequest } from '../../../../src/testing/scripted-engine.ts';
import type { WorkParts } from '../engine-work.ts';
import { askedOf, SECRET, speaking } from './subjects.ts';

const { scripted, translate } = await speaking('deepl', { api_key: SECRET }, { sourceLang: 'EN' });

/** Forms and JSON as equal members: `text` repeats, lists are joined by commas, and codes are in upper or lower case. */
function membersOf(request: ScriptedRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(sentMembers(request)).map(([name, value]) => [name, name.endsWith('_lang') ? String(value).toLowerCase() : value]),
  );
}

function sentMembers({ body, headers }: ScriptedRequest): Readonly<Record<string, unknown>> {
  if (String(headers['content-type']).startsWith('application/json')) {
    const { ignore_tags: ignored, ...rest } = JSON.parse(body) as { ignore_tags?: readonly string[] };
    return { ...rest, ...(ignored === undefined ? {} : { ignore_tags: ignored.join(',') }) };
  }
  const form = new URLSearchParams(body);
  const { show_billed_characters: _billed, ...rest } = Object.fromEntries(form);
  return { ...rest, text: form.getAll('text') };
}

describe('a request', () => {
  const CASES: readonly (readonly [string, WorkParts, deepl.TranslateTextOptions])[] = [
    ['texts', {}, {}],
    ['no source language', { sourceLang: undefined }, {}],
    ['a variant', { targetLang: 'PT-BR' }, {}],
    [
      'formality and context',
      { formality: 'prefer_more', context: 'A letter, "formal".' },
      { formality: 'prefer_more', context: 'A letter, "formal".' },
    ],
    ['html', { format: 'html' }, { tagHandling: 'html' }],
    ['xml with ignored tags', { format: 'xml', ignoreTags: ['x', 'y'] }, { tagHandling: 'xml', ignoreTags: ['x', 'y'] }],
  ];

  test.each(CASES)('with %s equals that of the official client', async (_name, parts, options) => {
    const text = ['Hello 👍', 'a & b = "c"'];
    scripted.always(answer('{"translations":[{"detected_source_language":"EN","text":"a"},{"detected_source_language":"EN","text":"b"}]}'));
    await translate({ text, ...parts });
    const given: { readonly sourceLang?: string | undefined; readonly targetLang?: string } = { sourceLang: 'EN', ...parts };
    const { sourceLang = null, targetLang = 'DE' } = given;
    const client = new deepl.Translator(SECRET, { serverUrl: scripted.url, maxRetries: 0 });
    await client.translateText(text, sourceLang as deepl.SourceLanguageCode | null, targetLang as deepl.TargetLanguageCode, options);
    const [ours, theirs] = scripted.requests as [ScriptedRequest, ScriptedRequest];
    expect([ours.method, ours.path, ours.headers['authorization']]).toEqual([theirs.method, theirs.path, theirs.headers['authorization']]);
    expect(membersOf(ours)).toEqual(membersOf(theirs));
  });
});

describe('a request has', () => {
  test('at most 128 KiB; the rest follows in the next, in order', async () => {
    const text = Array.from({ length: 30 }, (_, index) => `${index} ${'é"'.repeat(5000)}`);
    const result = await translate({ text, context: 'c'.repeat(2000) });
    expect(result).toMatchObject({ kind: 'usable', failures: [] });
    expect(result.kind === 'usable' && result.translations.map((translation) => translation.text)).toEqual(
      text.map((entry) => `[DE] ${entry}`),
    );
    expect(scripted.requests.length).toBeGreaterThanOrEqual(5);
    for (const { body } of scripted.requests) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(128 * 1024);
    expect(scripted.requests.flatMap((request) => askedOf(request).text)).toEqual(text);
  });

  test('at most 50 texts, which is the most that a caller can send', async () => {
    await translate({ text: Array.from({ length: 50 }, (_, index) => `${index} a`) });
    await translate({ text: Array.from({ length: 120 }, (_, index) => `${index} a`) });
    expect(scripted.requests.map((request) => askedOf(request).text.length)).toEqual([50, 50, 50, 20]);
  });

  test('a single text if that alone is too long, for the engine to refuse', async () => {
    await translate({ text: ['a', 'x'.repeat(200_000), 'b'] });
    expect(scripted.requests.map((request) => askedOf(request).text.map((text) => text.length))).toEqual([[1], [200_000], [1]]);
  });

  test('no successor once one has failed: the rest would be paid for and thrown away', async () => {
    scripted.always(status(500));
    await translate({ text: Array.from({ length: 20 }, () => 'x'.repeat(20_000)) });
    expect(scripted.requests).toHaveLength(2);
  });
});

test('the detected language is passed on', async () => {
  expect(await translate({ text: ['Hello'], sourceLang: undefined })).toMatchObject({ translations: [{ detectedSourceLanguage: 'EN' }] });
});
