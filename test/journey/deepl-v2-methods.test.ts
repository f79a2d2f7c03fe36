// Every method of DeepL's own client for Node: those that this service offers work, the others end in the client's own errors.
import * as deepl from 'deepl-node';
import { expect, test } from 'vitest';
import { oneTeam, onOneGateway } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { written } from '../support/written-file.ts';

const ENTRIES = new deepl.GlossaryEntries({ entries: { Hello: 'Servus' } });
const DICTIONARY = { sourceLangCode: 'en', targetLangCode: 'de', entries: ENTRIES } as const;
const CSV = 'Hello,Servus,en,de';

interface Made {
  /** Glossaries of both versions. */
  readonly v2: deepl.GlossaryInfo;
  readonly v3: deepl.MultilingualGlossaryInfo;
}
type Call = (client: deepl.DeepLClient, made: Made) => Promise<unknown>;

/** Each is called with glossaries of its own. */
const OFFERED: Readonly<Record<string, Call>> = {
  getUsage: (client) => client.getUsage(),
  getSourceLanguages: (client) => client.getSourceLanguages(),
  getTargetLanguages: (client) => client.getTargetLanguages(),
  getGlossaryLanguagePairs: (client) => client.getGlossaryLanguagePairs(),
  translateText: (client, { v3 }) => client.translateText('Hello', 'en', 'de', { glossaryIds: [v3] }),
  createGlossary: (client) => client.createGlossary('a', 'en', 'de', ENTRIES),
  createGlossaryWithCsv: (client) => client.createGlossaryWithCsv('a', 'en', 'de', Buffer.from(CSV)),
  getGlossary: (client, { v2 }) => client.getGlossary(v2.glossaryId),
  listGlossaries: (client) => client.listGlossaries(),
  getGlossaryEntries: (client, { v2 }) => client.getGlossaryEntries(v2),
  deleteGlossary: (client, { v2 }) => client.deleteGlossary(v2),
  createMultilingualGlossary: (client) => client.createMultilingualGlossary('a', [DICTIONARY]),
  createMultilingualGlossaryWithCsv: (client) => client.createMultilingualGlossaryWithCsv('a', 'en', 'de', CSV),
  getMultilingualGlossary: (client, { v3 }) => client.getMultilingualGlossary(v3.glossaryId),
  getMultilingualGlossaryDictionaryEntries: (client, { v3 }) => client.getMultilingualGlossaryDictionaryEntries(v3, 'en', 'de'),
  listMultilingualGlossaries: (client) => client.listMultilingualGlossaries(),
  deleteMultilingualGlossary: (client, { v3 }) => client.deleteMultilingualGlossary(v3),
  deleteMultilingualGlossaryDictionary: (client, { v3 }) => client.deleteMultilingualGlossaryDictionary(v3, 'en', 'de'),
  replaceMultilingualGlossaryDictionary: (client, { v3 }) => client.replaceMultilingualGlossaryDictionary(v3, DICTIONARY),
  replaceMultilingualGlossaryDictionaryWithCsv: (client, { v3 }) =>
    client.replaceMultilingualGlossaryDictionaryWithCsv(v3, 'en', 'de', CSV),
  updateMultilingualGlossaryName: (client, { v3 }) => client.updateMultilingualGlossaryName(v3, 'b'),
  updateMultilingualGlossaryDictionary: (client, { v3 }) => client.updateMultilingualGlossaryDictionary(v3, DICTIONARY),
  updateMultilingualGlossaryDictionaryWithCsv: (client, { v3 }) => client.updateMultilingualGlossaryDictionaryWithCsv(v3, 'en', 'de', CSV),
};

/** Documents, rephrasing, style rules and translation memories. */
const NOT_OFFERED = /Document|rephrase|Style|TranslationMemor/;
/** Not about the API. */
const OWN = /^(?:construct\w*|internal\w*|throwIf\w*|sleep|isDocument\w*)$/;

const METHODS = [deepl.DeepLClient.prototype, deepl.Translator.prototype].flatMap((one) => Object.getOwnPropertyNames(one));

test('every method of the client is offered, or of a feature that is not', () => {
  const unknown = METHODS.filter((name) => !Object.hasOwn(OFFERED, name) && !NOT_OFFERED.test(name) && !OWN.test(name));
  expect(unknown).toEqual([]);
  expect(Object.keys(OFFERED).filter((name) => !METHODS.includes(name))).toEqual([]);
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  const team = oneTeam(setting, { ...QUOTA_PLAN, max_glossaries: 1000, requests_per_second: 10_000 });

  const client = (key: string): deepl.DeepLClient =>
    new deepl.DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}`, maxRetries: 0 });
  const made = async (own: deepl.DeepLClient): Promise<Made> => ({
    v2: await own.createGlossary('a', 'en', 'de', ENTRIES),
    v3: await own.createMultilingualGlossary('a', [DICTIONARY]),
  });

  test.each(Object.entries(OFFERED))('%s works, and a wrong key is an AuthorizationError', async (_name, call) => {
    const own = client(team.key);
    const glossaries = await made(own);
    await expect(call(client(`la_live_${'a'.repeat(40)}`), glossaries)).rejects.toThrow(deepl.AuthorizationError);
    await call(own, glossaries);
  });

  test.each<[string, Call]>([
    ['rephraseText', (own) => own.rephraseText('a', 'de')],
    ['uploadDocument', (own) => own.uploadDocument(written('Hello', 'a.txt'), null, 'de')],
    ['getAllStyleRules', (own) => own.getAllStyleRules()],
    ['listTranslationMemories', (own) => own.listTranslationMemories()],
  ])('%s is a DeepLError', async (_name, call) => {
    await expect(call(client(team.key), {} as Made)).rejects.toThrow(deepl.DeepLError);
  });
});
