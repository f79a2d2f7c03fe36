// DeepL's own client for Node and its glossaries of both versions, in front of `lingate/plugins/deepl-v2`.
import * as deepl from 'deepl-node';
import { beforeEach, expect, test } from 'vitest';
import { ulidOf } from '../../support/door/terms.ts';
import { ask, expectProblem, oneTeam, onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';

const ROOMY = { ...QUOTA_PLAN, max_glossaries: 1000, requests_per_second: 10_000 };
const UNKNOWN = '96ab91fd-e715-41a1-adeb-5d701f84a483';
const EVERY_KIND = { Apple: 'Apfel', 'A%=&': 'B&=%', Δぁ: '深', '🪨': '🪵', '10': 'zehn', '2': 'zwei' };

const entriesOf = (entries: Readonly<Record<string, string>>) => new deepl.GlossaryEntries({ entries: { ...entries } });
const pair = (sourceLangCode: string, targetLangCode: string, entries: Readonly<Record<string, string>>) => ({
  sourceLangCode: sourceLangCode as deepl.SourceGlossaryLanguageCode,
  targetLangCode: targetLangCode as deepl.TargetGlossaryLanguageCode,
  entries: entriesOf(entries),
});
const EN_DE = pair('en', 'de', { Hello: 'Hallo' });
const DE_EN = pair('de', 'en', { Hallo: 'Hello' });

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  const team = oneTeam(setting, ROOMY);
  beforeEach(() => setting.engine.forget());

  const client = (key = team.key): deepl.DeepLClient =>
    new deepl.DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}`, maxRetries: 0 });
  const sent = (): { glossary?: { id: string; entries: object }; target_lang: string }[] =>
    setting.engine.requests.map(({ body }) => JSON.parse(body) as { target_lang: string });
  const settled = (of: Pick<TestTeam, 'teamId'>) => setting.gateway.charged(of);

  const ownClient = async () => client((await setting.gateway.team(ROOMY)).key);

  test('version 2: created from entries and from CSV, shown, listed, read and deleted', async () => {
    const own = await ownClient();
    const created = await own.createGlossary('Pläne, “7”', 'en', 'de', entriesOf(EVERY_KIND));
    expect(created).toMatchObject({ name: 'Pläne, “7”', ready: true, sourceLang: 'en', targetLang: 'de', entryCount: 6 });
    expect(created.glossaryId).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(created.creationTime.getTime() - Date.now())).toBeLessThan(3_600_000);
    expect(await own.getGlossary(created.glossaryId)).toEqual(created);
    expect((await own.getGlossaryEntries(created)).entries()).toEqual(EVERY_KIND);

    const csv = 'sourceEntry1,targetEntry1,en,de\n"source""Entry","target,Entry",en,de';
    const fromCsv = await own.createGlossaryWithCsv('CSV', 'en', 'de', Buffer.from(csv));
    expect((await own.getGlossaryEntries(fromCsv)).entries()).toEqual({ sourceEntry1: 'targetEntry1', 'source"Entry': 'target,Entry' });

    expect(await own.listGlossaries()).toEqual([created, fromCsv]);
    await own.deleteGlossary(created);
    await expect(own.getGlossary(created.glossaryId)).rejects.toThrow(deepl.GlossaryNotFoundError);
    expect(await own.listGlossaries()).toEqual([fromCsv]);
  });

  test('version 3: dictionaries are added, extended, replaced, renamed and removed', async () => {
    const own = await ownClient();
    const created = await own.createMultilingualGlossary('Both ways', [EN_DE, DE_EN]);
    const counts = (glossary: deepl.MultilingualGlossaryInfo) =>
      glossary.dictionaries.map((one) => `${one.sourceLangCode} ${one.targetLangCode} ${one.entryCount}`);
    expect(counts(created)).toEqual(['en de 1', 'de en 1']);
    const id = created.glossaryId;
    const read = async (source: 'en' | 'de', target: 'en' | 'de') =>
      (await own.getMultilingualGlossaryDictionaryEntries(id, source, target)).entries.entries();

    const merged = await own.updateMultilingualGlossaryDictionary(id, pair('en', 'de', { Hello: 'Guten Tag', Apple: 'Apfel' }));
    expect(counts(merged)).toEqual(['en de 2', 'de en 1']);
    expect(await read('en', 'de')).toEqual({ Hello: 'Guten Tag', Apple: 'Apfel' });
    expect(await read('de', 'en')).toEqual({ Hallo: 'Hello' });

    await own.updateMultilingualGlossaryDictionaryWithCsv(id, 'en', 'fr', 'Hello,Bonjour,en,fr');
    const replaced = await own.replaceMultilingualGlossaryDictionary(id, pair('en', 'de', EVERY_KIND));
    expect(replaced).toEqual({ sourceLangCode: 'en', targetLangCode: 'de', entryCount: 6 });
    expect(await read('en', 'de')).toEqual(EVERY_KIND);
    await own.replaceMultilingualGlossaryDictionaryWithCsv(id, 'de', 'en', 'Hallo,Hi');
    expect(await read('de', 'en')).toEqual({ Hallo: 'Hi' });

    expect((await own.updateMultilingualGlossaryName(id, 'Other')).name).toBe('Other');
    await own.deleteMultilingualGlossaryDictionary(id, 'en', 'fr');
    const left = await own.getMultilingualGlossary(id);
    expect([left.name, left.creationTime, counts(left)]).toEqual(['Other', created.creationTime, ['en de 6', 'de en 1']]);
    const empty = await own.createMultilingualGlossary('Empty', []);
    expect(await own.listMultilingualGlossaries()).toEqual([left, empty]);
    expect(await own.listGlossaries()).toEqual([]);
    await own.deleteMultilingualGlossary(id);
    await expect(own.getMultilingualGlossary(id)).rejects.toThrow(deepl.GlossaryNotFoundError);
  });

  test('a glossary of either version is used by translations, its languages compared without their regions', async () => {
    const own = await setting.gateway.team(ROOMY);
    const [enDe, both] = [
      await client(own.key).createGlossary('One way', 'en', 'de', entriesOf({ Hello: 'Servus' })),
      await client(own.key).createMultilingualGlossary('Both ways', [EN_DE, DE_EN]),
    ];
    expect((await client(own.key).translateText('Hello', 'en', 'de', { glossary: enDe })).text).toBe('[DE] Hello');
    await client(own.key).translateText('Hallo', 'de', 'en-US', { glossary: both });
    await client(own.key).translateText('Hallo', 'de', 'en-GB', { glossary: both.glossaryId });
    await client(own.key).translateText('Hello', 'en', 'de', { glossary: both });
    expect(sent().map(({ target_lang, glossary }) => [target_lang, glossary?.entries])).toEqual([
      ['DE', { Hello: 'Servus' }],
      ['EN-US', { Hallo: 'Hello' }],
      ['EN-GB', { Hallo: 'Hello' }],
      ['DE', { Hello: 'Hallo' }],
    ]);
    await expect.poll(() => settled(own)).toBe(20);
  });

  test('a change is used by the next translation, and what engines know by an id never changes', async () => {
    const own = await ownClient();
    const { glossaryId } = await own.createMultilingualGlossary('Changing', [EN_DE]);
    const translated = () => own.translateText('Hello', 'en', 'de', { glossary: glossaryId });
    await translated();
    await translated();
    await own.updateMultilingualGlossaryDictionary(glossaryId, pair('en', 'de', { Hello: 'Moin' }));
    await translated();
    const [first, second, third] = sent().map(({ glossary }) => glossary);
    expect(second).toEqual(first);
    expect([first?.entries, third?.entries]).toEqual([{ Hello: 'Hallo' }, { Hello: 'Moin' }]);
    expect(third?.id).not.toBe(first?.id);
  });

  test('an unknown glossary is 404, an invalid id is 400, and nothing is charged', async () => {
    const own = await setting.gateway.team(ROOMY);
    const stranger = await client().createMultilingualGlossary('Of another team', [EN_DE]);
    const [v2, v3] = [client(own.key), client(own.key)];
    for (const id of [UNKNOWN, stranger.glossaryId]) {
      const tries = [
        () => v2.getGlossary(id),
        () => v2.getGlossaryEntries(id),
        () => v2.deleteGlossary(id),
        () => v3.getMultilingualGlossary(id),
        () => v3.getMultilingualGlossaryDictionaryEntries(id, 'en', 'de'),
        () => v3.updateMultilingualGlossaryName(id, 'Mine'),
        () => v3.updateMultilingualGlossaryDictionary(id, EN_DE),
        () => v3.replaceMultilingualGlossaryDictionary(id, EN_DE),
        () => v3.deleteMultilingualGlossaryDictionary(id, 'en', 'de'),
        () => v3.deleteMultilingualGlossary(id),
        () => v3.translateText('Hello', 'en', 'de', { glossary: id }),
      ];
      for (const tried of tries) await expect(tried()).rejects.toThrow(/[Nn]ot found|no glossary/);
    }
    for (const id of ['invalid_glossary_id', ulidOf(stranger.glossaryId)!]) {
      const tries = [
        () => v2.getGlossary(id),
        () => v2.deleteGlossary(id),
        () => v3.getMultilingualGlossary(id),
        () => v3.updateMultilingualGlossaryName(id, 'Mine'),
        () => v3.translateText('Hello', 'en', 'de', { glossary: id }),
      ];
      for (const tried of tries) await expect(tried()).rejects.toThrow(/^Bad request/);
    }
    await expect(
      v3.deleteMultilingualGlossaryDictionary((await v3.createMultilingualGlossary('Own', [EN_DE])).glossaryId, 'de', 'en'),
    ).rejects.toThrow(deepl.GlossaryNotFoundError);
    expect(setting.engine.requests).toEqual([]);
    expect(await settled(own)).toBe(0);
    expect((await client().getMultilingualGlossary(stranger.glossaryId)).name).toBe('Of another team');
  });

  test('a translation for a pair that the glossary lacks is refused in the words that clients look for, and not charged', async () => {
    const own = await setting.gateway.team(ROOMY);
    const { glossaryId } = await client(own.key).createMultilingualGlossary('Both ways', [EN_DE, DE_EN]);
    await expect(client(own.key).translateText('Hello', 'en', 'fr', { glossary: glossaryId })).rejects.toThrow(
      'No dictionary found for language pair',
    );
    const body = { text: ['Hello'], target_lang: 'DE', glossary_id: glossaryId };
    const response = await ask(setting, { method: 'POST', path: '/v2/translate', key: own.key, body });
    expect([response.status, response.body]).toEqual([400, expect.stringContaining("'source_lang' is required")]);
    expect(setting.engine.requests).toEqual([]);
    expect(await settled(own)).toBe(0);
  });

  test('the plan limits the number of glossaries, whatever their size, and a deletion makes room', async () => {
    const small = client((await setting.gateway.team({ ...ROOMY, max_glossaries: 2 })).key);
    const first = await small.createMultilingualGlossary('First', [EN_DE, DE_EN]);
    await small.createGlossary('Second', 'en', 'de', entriesOf({ a: 'b' }));
    const limit = /403|The plan allows 2 glossaries/;
    await expect(small.createGlossary('Third', 'en', 'de', entriesOf({ a: 'b' }))).rejects.toThrow(limit);
    await expect(small.createMultilingualGlossary('Third', [])).rejects.toThrow(limit);
    await small.updateMultilingualGlossaryDictionary(first.glossaryId, pair('en', 'fr', { a: 'b' }));
    await small.deleteMultilingualGlossary(first.glossaryId);
    await small.createMultilingualGlossary('Third', [EN_DE]);
  });

  test('concurrent changes of a glossary are all kept', async () => {
    const { glossaryId } = await client().createMultilingualGlossary('Shared', [EN_DE]);
    const terms = Array.from({ length: 30 }, (_, i) => `term ${i}`);
    const renamed = client().updateMultilingualGlossaryName(glossaryId, 'Renamed meanwhile');
    await Promise.all(terms.map((term) => client().updateMultilingualGlossaryDictionary(glossaryId, pair('en', 'de', { [term]: 'x' }))));
    await Promise.all([renamed, client().replaceMultilingualGlossaryDictionary(glossaryId, DE_EN)]);
    const { entries } = await client().getMultilingualGlossaryDictionaryEntries(glossaryId, 'en', 'de');
    expect(Object.keys(entries.entries()).toSorted()).toEqual(['Hello', ...terms].toSorted());
    const glossary = await client().getMultilingualGlossary(glossaryId);
    expect([glossary.name, glossary.dictionaries.length]).toEqual(['Renamed meanwhile', 2]);
  });

  test('/v1 shows a glossary only while it has a single dictionary, and uses it only if the pair matches exactly', async () => {
    const own = await setting.gateway.team(ROOMY);
    const v1 = (path: string, method = 'GET', body?: unknown) => ask(setting, { method, path, key: own.key, body });
    const { glossaryId } = await client(own.key).createMultilingualGlossary('Both ways', [EN_DE]);
    const id = ulidOf(glossaryId)!;
    const shown = { glossary_id: id, source_lang: 'EN', target_lang: 'DE', entry_count: 1 };
    expect((await v1(`/v1/glossaries/${id}`)).json()).toMatchObject(shown);
    expect((await v1(`/v1/glossaries/${id}/entries`)).json()).toEqual({ entries: { Hello: 'Hallo' } });
    await client(own.key).replaceMultilingualGlossaryDictionary(glossaryId, DE_EN);
    expectProblem(await v1(`/v1/glossaries/${id}`), 'glossary_not_found');
    expectProblem(await v1(`/v1/glossaries/${id}/entries`), 'glossary_not_found');
    expectProblem(await v1(`/v1/glossaries/${id}`, 'DELETE'), 'glossary_not_found');
    expect((await v1('/v1/glossaries')).json()).toEqual({ glossaries: [] });
    const translated = (source_lang: string, target_lang: string) =>
      v1('/v1/translate', 'POST', { text: ['Hello'], source_lang, target_lang, glossary_id: id });
    expect((await translated('EN', 'DE')).status).toBe(200);
    expectProblem(await translated('DE', 'EN-US'), 'validation_error');
    expect(sent()).toMatchObject([{ target_lang: 'DE', glossary: { entries: { Hello: 'Hallo' } } }]);

    const made = (await v1('/v1/glossaries', 'POST', { name: 'n', source_lang: 'EN', target_lang: 'PT-BR', entries: { a: 'b' } })).json();
    const uuid = (await client(own.key).listMultilingualGlossaries()).at(-1)!;
    expect(ulidOf(uuid.glossaryId)).toBe((made as { glossary_id: string }).glossary_id);
    expect(uuid.dictionaries).toEqual([{ sourceLangCode: 'en', targetLangCode: 'pt', entryCount: 1 }]);
    await client(own.key).replaceMultilingualGlossaryDictionary(uuid.glossaryId, pair('en', 'pt', { a: 'c' }));
    expect((await v1(`/v1/glossaries/${ulidOf(uuid.glossaryId)!}`)).json()).toMatchObject({ target_lang: 'PT-BR', entry_count: 1 });
  });
});
