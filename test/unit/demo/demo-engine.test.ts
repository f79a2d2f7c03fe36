// The demo engine: a phrasebook that speaks the native protocol over real HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PHRASEBOOK, PHRASEBOOK_LANGUAGES } from '../../../src/demo/phrasebook.ts';
import { startDemoEngine } from '../../../src/demo/demo-engine.ts';
import type { DemoEngine } from '../../../src/demo/demo-engine.ts';
import type { ReplicatedEngine } from '../../../src/engines/balancer.ts';
import type { Translation } from '../../../src/ports/engine.ts';
import { asked, Caller, engineOf, work } from '../engines/engine-work.ts';

let demo: DemoEngine;
let engine: ReplicatedEngine;

beforeAll(async () => {
  demo = await startDemoEngine();
  engine = engineOf([demo.url]);
});

afterAll(async () => {
  await engine.close();
  await demo.close();
});

async function translate(text: readonly string[], targetLang: string, sourceLang?: string): Promise<readonly Translation[]> {
  const result = await asked(engine, work({ text, targetLang, sourceLang }), new Caller());
  return result.kind === 'usable' ? result.translations : [];
}

test.each([
  ['Hello, world!', 'EN', 'DE', 'Hallo, Welt!'],
  ['Hello, world!', 'EN', 'ES', '¡Hola, mundo!'],
  ['How are you? Thank you.', 'EN', 'ES', '¿Cómo estás? Gracias.'],
  ['¡Hola, mundo!', 'ES', 'DE', 'Hallo, Welt!'],
  ['Hello, world!', 'EN', 'FR', 'Bonjour, monde!'],
  ['Hallo, Welt!', 'DE', 'EN-GB', 'Hello, world!'],
  ['HELLO WORLD', 'EN', 'DE', 'HALLO WELT'],
  ['The house is big. The cat is black.', 'EN', 'DE', 'Das Haus ist groß. Die Katze ist schwarz.'],
  ['Thank you very much, and good night!', 'EN', 'ES', '¡Muchas gracias, y buenas noches!'],
  ['Das Haus ist klein', 'DE', 'FR', 'La maison est petit'],
  ['Hello, Ms Xyzzy (hello).', 'EN', 'DE', 'Hallo, Ms Xyzzy (hallo).'],
  ['  good\n morning\t', 'EN', 'DE', '  guten Morgen\t'],
  ['good, morning 👋', 'EN', 'DE', 'gut, morning 👋'],
  ['Hello, world!', 'EN', 'JA', 'Hello, world!'],
  ['', 'EN', 'DE', ''],
])('%j from %s into %s is %j', async (text, source, target, expected) => {
  expect((await translate([text], target, source)).map((translation) => translation.text)).toEqual([expected]);
});

test('the detected language is the one with most known words, English if in doubt', async () => {
  const texts = ['Das Haus ist groß', 'la casa es grande', 'la maison est belle et grand', 'The dog is here', '12 xyzzy'];
  expect((await translate(texts, 'EN-US')).map((translation) => translation.detectedSourceLanguage)).toEqual([
    'DE',
    'ES',
    'FR',
    'EN',
    'EN',
  ]);
});

test('glossary terms take precedence over the phrasebook', async () => {
  const glossary = { id: '01J', entries: { world: 'Erde', 'big house': 'Villa' } };
  const result = await asked(engine, work({ text: ['Hello, world! A big house'], sourceLang: 'EN', glossary }), new Caller());
  expect(result).toMatchObject({ translations: [{ text: 'Hallo, Erde! A Villa' }] });
});

test('every row of the phrasebook is translated from every language into every other', async () => {
  for (const [from, source] of PHRASEBOOK_LANGUAGES.entries()) {
    for (const [to, target] of PHRASEBOOK_LANGUAGES.entries()) {
      const rows = PHRASEBOOK.map((row) => [row[from]!, row[to]!] as const);
      const firsts = rows.filter(([written], i) => rows.findIndex(([other]) => other.toLowerCase() === written.toLowerCase()) === i);
      const answers = (
        await Promise.all(
          [firsts.slice(0, 30), firsts.slice(30)].map((some) =>
            translate(
              some.map(([written]) => written),
              target,
              source,
            ),
          ),
        )
      ).flat();
      // A single German noun may start a sentence, so its capital letter says nothing.
      expect(answers.map((translation) => translation.text.toLowerCase())).toEqual(
        firsts.map(([, translation]) => translation.toLowerCase()),
      );
    }
  }
});

test.each([
  ['GET', '/translate', undefined, 404],
  ['POST', '/', '{}', 404],
  ['POST', '/translate', '{', 400],
  ['POST', '/translate', '{"text":"Hello","target_lang":"DE"}', 400],
  ['POST', '/translate', '{"text":["Hello"]}', 400],
])('%s %s with %s is answered %i', async (method, path, body, expected) => {
  const response = await fetch(demo.url + path, { method, ...(body === undefined ? {} : { body }) });
  await response.arrayBuffer();
  expect(response.status).toBe(expected);
});
