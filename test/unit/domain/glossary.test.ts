// The body of POST /v1/glossaries: the schema in the reference agrees with the rules that are applied.
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { GlossaryBody, judgeGlossaryBody } from '../../../src/domain/glossary.ts';
import { Languages } from '../../../src/domain/languages.ts';

const languages = new Languages({
  sources: [{ code: 'EN', name: 'English' }],
  targets: [{ code: 'DE', name: 'German', formality: true }],
});

const good = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { gateway: 'Tor' } };
const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, 'x']));

function detailOf(body: unknown): string | undefined {
  const verdict = judgeGlossaryBody(body, languages);
  return verdict.kind === 'valid' ? undefined : verdict.refusal.problem.detail;
}

describe('schema and rules agree', () => {
  test.each([
    ['a good body', good, true],
    ['a name of 200 code points', { ...good, name: '👍'.repeat(200) }, true],
    ['a name of 201', { ...good, name: '👍'.repeat(201) }, false],
    ['an empty name', { ...good, name: '' }, false],
    ['no name', { ...good, name: undefined }, false],
    ['no source_lang', { ...good, source_lang: undefined }, false],
    ['no target_lang', { ...good, target_lang: undefined }, false],
    ['another member', { ...good, description: 'x' }, false],
    ['no entries', { ...good, entries: undefined }, false],
    ['an empty glossary', { ...good, entries: {} }, false],
    ['5000 entries', { ...good, entries: numbered(5000) }, true],
    ['5001 entries', { ...good, entries: numbered(5001) }, false],
    ['a term and a translation of 500 code points', { ...good, entries: { ['👍'.repeat(500)]: '👍'.repeat(500) } }, true],
    ['a term of 501', { ...good, entries: { ['👍'.repeat(501)]: 'x' } }, false],
    ['a translation of 501', { ...good, entries: { x: '👍'.repeat(501) } }, false],
    ['an empty term', { ...good, entries: { '': 'x' } }, false],
    ['an empty translation', { ...good, entries: { x: '' } }, false],
    ['a translation that is not a string', { ...good, entries: { x: 1 } }, false],
    ['a list', [good], false],
  ])('on %s', (_what, body, sound) => {
    // As it is sent: absent members do not exist at all.
    const sent: unknown = JSON.parse(JSON.stringify(body));
    expect([Check(GlossaryBody, sent), detailOf(sent) === undefined]).toEqual([sound, sound]);
  });
});

describe('white space and errors', () => {
  test('white space around name, terms and translations is dropped, white space within is kept', () => {
    const body = { ...good, name: '\n Terms ', entries: { '\u00a0two  words\t': ' zwei  Wörter\r\n' } };
    expect(judgeGlossaryBody(body, languages)).toMatchObject({
      kind: 'valid',
      draft: { name: 'Terms', sourceLang: 'EN', targetLang: 'DE', entries: { 'two  words': 'zwei  Wörter' } },
    });
  });

  test.each([
    ['हिन्दी', 'entries["हिन्दी"]: '],
    ['👩‍👩‍👧', 'entries["👩?👩?👧"]: '],
    [`${'x'.repeat(39)}👍y`, `entries["${'x'.repeat(39)}\ufffd…"]: `],
    ['a\u202eb\u0000', 'entries["a?b?"]: '],
  ])('an error names the entry %j by its term, truncated and printable', (term, name) => {
    const detail = detailOf({ ...good, entries: { gateway: 'Tor', [term]: '' } });
    expect(detail?.startsWith(name)).toBe(true);
    expect(detail?.length).toBeLessThan(120);
  });
});
