// What programs that people use send to the APIs of DeepL, LibreTranslate, Google and Azure, byte by byte: the answer is what each
// of them can read, and the characters that it is charged are those that it has sent.
import { beforeEach, describe, expect, test } from 'vitest';
import { onOneGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';

const PLUGINS = [
  { module: 'lingate/plugins/deepl-v2' },
  { module: 'lingate/plugins/libretranslate', options: { api_key_in_query: true } },
  { module: 'lingate/plugins/google-v2', options: { key_in_query: true, key_in_body: true } },
  // Discourse has this path if a subdomain is set.
  { module: 'lingate/plugins/azure-v3', options: { root: false } },
];

/** Stands for the key in paths, headers and bodies. */
const KEY = '{key}';

interface Replay {
  /** What the program does. */
  readonly does: string;
  readonly send: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** 200 by default. */
  readonly status?: number;
  /** What the program reads of the answer, from its JSON. */
  readonly reads: (answer: never) => unknown;
  readonly finds: unknown;
  /** Nothing by default. */
  readonly charged?: number;
}

const REQUESTS = { 'user-agent': 'python-requests/2.32.3', 'accept-encoding': 'gzip, deflate', accept: '*/*', connection: 'keep-alive' };
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
/** Python's own client. */
const URLLIB = { ...FORM_TYPE, 'user-agent': 'Python-urllib/3.11', 'accept-encoding': 'identity', connection: 'close' };
const DEEPL_KEY = { authorization: `DeepL-Auth-Key ${KEY}` };

interface Translations {
  readonly translations: readonly { readonly text: string; readonly detected_source_language: string }[];
}
interface Coded {
  readonly language: string;
  readonly supports_formality?: boolean;
}
interface Told {
  readonly message: string;
}
interface Translated {
  readonly translatedText: string | readonly string[];
  readonly detectedLanguage?: { readonly language: string };
}
interface LibreError {
  readonly error: string;
}
interface GoogleData<Data> {
  readonly data: Data;
}
interface GoogleTranslations {
  readonly translations: readonly { readonly translatedText: string }[];
}
interface AzureTranslations {
  readonly translations: readonly { readonly text: string; readonly to: string }[];
}

const textsOf = ({ translations }: Translations): unknown => translations.map(({ text }) => text);
const googleTexts = ({ data }: GoogleData<GoogleTranslations>): unknown => data.translations.map(({ translatedText }) => translatedText);

const CLIENTS: Readonly<Record<string, readonly Replay[]>> = {
  'Weblate by DeepL': [
    {
      does: 'lists the targets, with their formality',
      send: 'GET /v2/languages?type=target',
      headers: { ...REQUESTS, ...DEEPL_KEY },
      reads: (list: readonly Coded[]) => list.find(({ language }) => language === 'DE')?.supports_formality,
      finds: true,
    },
    {
      does: 'translates several strings as XML, in one of which a placeholder is marked',
      send: 'POST /v2/translate',
      headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
      body: '{"text": ["Hello <x id=\\"6\\"></x>", "Save"], "source_lang": "EN", "target_lang": "DE", "formality": "default", "tag_handling": "xml", "ignore_tags": ["x"]}',
      reads: textsOf,
      finds: ['[DE] Hello <x id="6"></x>', '[DE] Save'],
      charged: 24,
    },
    {
      does: 'translates formally',
      send: 'POST /v2/translate',
      headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
      body: '{"text": ["Save"], "source_lang": "EN", "target_lang": "DE", "formality": "more", "tag_handling": "xml", "ignore_tags": ["x"], "model_type": "prefer_quality_optimized"}',
      reads: textsOf,
      finds: ['[DE] Save'],
      charged: 4,
    },
    {
      does: 'looks for glossaries',
      send: 'GET /v2/glossary-language-pairs',
      headers: { ...REQUESTS, ...DEEPL_KEY },
      reads: (answer: { readonly supported_languages: readonly { readonly source_lang: string; readonly target_lang: string }[] }) =>
        answer.supported_languages.some((pair) => pair.source_lang.toUpperCase() === 'EN' && pair.target_lang.toUpperCase() === 'DE'),
      finds: true,
    },
    {
      does: 'shows the message of a failure',
      send: 'POST /v2/translate',
      headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
      body: `{"text": [${Array.from({ length: 51 }, () => '"a"').join(', ')}], "target_lang": "DE"}`,
      status: 413,
      reads: ({ message }: Told) => message,
      finds: 'Too many texts: at most 50',
    },
  ],
  'Weblate by Google': [
    {
      does: 'lists the languages',
      send: `GET /language/translate/v2/languages?key=${KEY}`,
      headers: REQUESTS,
      reads: ({ data }: GoogleData<{ readonly languages: readonly Coded[] }>) =>
        data.languages.map(({ language }) => language).includes('no'),
      finds: true,
    },
    {
      does: 'translates, by GET and with a slash at the end of the path',
      send: `GET /language/translate/v2/?key=${KEY}&q=Hello%2C+world%21&source=en&target=zh-CN&format=text`,
      headers: REQUESTS,
      reads: googleTexts,
      finds: ['[ZH] Hello, world!'],
      charged: 13,
    },
  ],
  'Mastodon by DeepL': [
    {
      does: 'translates a post with its warning as HTML from a language that it does not know: a form whose source has no value',
      send: 'POST /v2/translate',
      headers: {
        ...DEEPL_KEY,
        ...FORM_TYPE,
        'user-agent': 'Mastodon/4.4 (http.rb/5.3.1; +https://example.social/)',
        'accept-encoding': 'gzip',
      },
      body: 'text=%3Cp%3EHello%3C%2Fp%3E&text=&source_lang&target_lang=de&tag_handling=html',
      reads: ({ translations }: Translations) => translations.map((one) => [one.text, one.detected_source_language.toLowerCase()]),
      finds: [
        ['[DE] <p>Hello</p>', 'en'],
        ['', 'und'],
      ],
      charged: 12,
    },
    {
      does: 'lists the sources',
      send: 'GET /v2/languages?type=source',
      headers: DEEPL_KEY,
      reads: (list: readonly Coded[]) => list.map(({ language }) => language.split('-')[0]!.toLowerCase()).includes('en'),
      finds: true,
    },
  ],
  'Mastodon by LibreTranslate': [
    {
      does: 'translates as HTML, detecting the language',
      send: 'POST /translate',
      headers: { ...JSON_TYPE, 'user-agent': 'Mastodon/4.4 (http.rb/5.3.1; +https://example.social/)' },
      body: `{"q":["<p>Hello</p>"],"source":"auto","target":"de","format":"html","api_key":"${KEY}"}`,
      reads: ({ translatedText }: Translated) => translatedText,
      finds: ['[DE] <p>Hello</p>'],
      charged: 12,
    },
    {
      does: 'takes a wrong key for a quota that is used up',
      send: 'POST /translate',
      headers: JSON_TYPE,
      body: '{"q":["<p>Hello</p>"],"source":"auto","target":"de","format":"html","api_key":""}',
      status: 403,
      reads: ({ error }: LibreError) => typeof error,
      finds: 'string',
    },
  ],
  'Discourse by LibreTranslate': [
    {
      does: 'detects the language of a post, in a form',
      send: 'POST /detect',
      headers: { ...FORM_TYPE, 'user-agent': 'excon/1.2.3' },
      body: `q=Hello&api_key=${KEY}`,
      reads: ([first]: readonly Coded[]) => first?.language,
      finds: 'en',
    },
    {
      does: 'translates it as HTML into its own name of a language',
      send: 'POST /translate',
      headers: { ...FORM_TYPE, 'user-agent': 'excon/1.2.3' },
      body: `q=%3Cp%3EHello%3C%2Fp%3E&source=en&target=iw&format=html&api_key=${KEY}`,
      reads: ({ translatedText }: Translated) => translatedText,
      finds: '[HE] <p>Hello</p>',
      charged: 12,
    },
  ],
  'Discourse by Google': [
    {
      does: 'detects the language of a post, with the key in the form',
      send: 'POST /language/translate/v2/detect',
      headers: { ...FORM_TYPE, referer: 'https://forum.example', 'user-agent': 'excon/1.2.3' },
      body: `q=Hello&key=${KEY}`,
      reads: ({ data }: GoogleData<{ readonly detections: readonly (readonly Coded[])[] }>) => data.detections[0]![0]!.language,
      finds: 'en',
    },
    {
      does: 'asks by POST whether the language is translated into that of the reader',
      send: 'POST /language/translate/v2/languages',
      headers: { ...FORM_TYPE, referer: 'https://forum.example', 'user-agent': 'excon/1.2.3' },
      body: `target=zh-TW&key=${KEY}`,
      reads: ({ data }: GoogleData<{ readonly languages: readonly Coded[] }>) => data.languages.some(({ language }) => language === 'en'),
      finds: true,
    },
    {
      does: 'translates',
      send: 'POST /language/translate/v2',
      headers: { ...FORM_TYPE, referer: 'https://forum.example', 'user-agent': 'excon/1.2.3' },
      body: `q=%3Cp%3EHello%3C%2Fp%3E&target=iw&key=${KEY}`,
      reads: googleTexts,
      finds: ['[HE] <p>Hello</p>'],
      charged: 12,
    },
  ],
  'Discourse by Microsoft': [
    {
      does: 'detects the language of a post',
      send: 'POST /translator/text/v3.0/detect?api-version=3.0',
      headers: {
        ...JSON_TYPE,
        'ocp-apim-subscription-key': KEY,
        'ocp-apim-subscription-region': 'westeurope',
        'user-agent': 'Faraday v2.12.2',
      },
      body: '[{"Text":"Hello"}]',
      reads: ([first]: readonly Coded[]) => first?.language,
      finds: 'en',
    },
    {
      does: 'translates it as HTML',
      send: 'POST /translator/text/v3.0/translate?api-version=3.0&from=en&to=zh-Hans&textType=html',
      headers: { ...JSON_TYPE, 'ocp-apim-subscription-key': KEY, 'user-agent': 'Faraday v2.12.2' },
      body: '[{"Text":"<p>Hello</p>"}]',
      reads: ([first]: readonly AzureTranslations[]) => first!.translations[0]!.text,
      finds: '[ZH] <p>Hello</p>',
      charged: 12,
    },
  ],
  'Zotero by a DeepLX address': [
    {
      does: 'translates a sentence',
      send: 'POST /translate',
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${KEY}` },
      body: '{"text":"Hello","source_lang":"EN","target_lang":"DE"}',
      reads: ({ data }: { readonly data: string }) => data,
      finds: '[DE] Hello',
      charged: 5,
    },
  ],
  'OmegaT by Google': [
    {
      does: 'translates a segment as HTML, with the key in a form whose method is overridden',
      send: 'POST /language/translate/v2',
      headers: { ...FORM_TYPE, 'x-http-method-override': 'GET', 'user-agent': 'Mozilla/5.0' },
      body: `format=html&key=${KEY}&q=Press+%3Ct0%2F%3E&source=en&target=de`,
      reads: googleTexts,
      finds: ['[DE] Press <t0/>'],
      charged: 11,
    },
    {
      does: 'translates into Chinese, with a model',
      send: 'POST /language/translate/v2',
      headers: { ...FORM_TYPE, 'x-http-method-override': 'GET', 'user-agent': 'Mozilla/5.0' },
      body: `format=html&key=${KEY}&model=nmt&q=Hello&source=en&target=ZH-CN`,
      reads: googleTexts,
      finds: ['[ZH] Hello'],
      charged: 5,
    },
  ],
  'Dialect by LibreTranslate': [
    {
      does: 'recognises the server',
      send: 'GET /spec',
      headers: { 'user-agent': 'Dialect App' },
      reads: ({ info }: { readonly info: { readonly title: string } }) => info.title,
      finds: 'LibreTranslate',
    },
    {
      does: 'reads the settings',
      send: 'GET /frontend/settings',
      headers: { 'user-agent': 'Dialect App' },
      reads: (settings: Readonly<Record<string, unknown>>) => [settings['suggestions'], settings['keyRequired'], settings['charLimit']],
      finds: [false, true, -1],
    },
    {
      does: 'checks a key with a form',
      send: 'POST /detect',
      headers: { ...FORM_TYPE, 'user-agent': 'Dialect App' },
      body: `q=hello&api_key=${KEY}`,
      reads: ([first]: readonly object[]) => 'confidence' in first!,
      finds: true,
    },
    {
      does: 'translates while one types, nothing included',
      send: 'POST /translate',
      headers: { ...JSON_TYPE, 'user-agent': 'Dialect App' },
      body: `{"q": "", "source": "auto", "target": "de", "api_key": "${KEY}"}`,
      reads: ({ translatedText }: Translated) => translatedText,
      finds: '',
    },
    {
      does: 'translates, and shows the language that was detected',
      send: 'POST /translate',
      headers: { ...JSON_TYPE, 'user-agent': 'Dialect App' },
      body: `{"q": "Hello", "source": "auto", "target": "de", "api_key": "${KEY}"}`,
      reads: ({ translatedText, detectedLanguage }: Translated) => [translatedText, detectedLanguage?.language],
      finds: ['[DE] Hello', 'en'],
      charged: 5,
    },
    {
      does: 'recognises a language that is not there',
      send: 'POST /translate',
      headers: { ...JSON_TYPE, 'user-agent': 'Dialect App' },
      body: `{"q": "Hello", "source": "auto", "target": "tlh", "api_key": "${KEY}"}`,
      status: 400,
      reads: ({ error }: LibreError) => error,
      finds: 'tlh is not supported',
    },
  ],
  libretranslatepy: [
    {
      does: 'translates',
      send: 'POST /translate',
      headers: URLLIB,
      body: `q=Hello%2C+world%21&source=en&target=de&api_key=${KEY}`,
      reads: ({ translatedText }: Translated) => translatedText,
      finds: '[DE] Hello, world!',
      charged: 13,
    },
    {
      does: 'detects a language',
      send: 'POST /detect',
      headers: URLLIB,
      body: `q=Hello&api_key=${KEY}`,
      reads: (list: readonly Coded[]) => list.map(({ language }) => language),
      finds: ['en'],
    },
    {
      does: 'lists the languages, by a GET with the key in its body',
      send: 'GET /languages',
      headers: URLLIB,
      body: `api_key=${KEY}`,
      reads: (list: readonly { readonly code: string }[]) => list.map(({ code }) => code).includes('de'),
      finds: true,
    },
  ],
  'deep-translator by LibreTranslate': [
    {
      does: 'translates with everything in the query, and no body',
      send: `POST /translate?q=Hello+world&source=en&target=de&format=text&api_key=${KEY}`,
      headers: { ...REQUESTS, 'content-length': '0' },
      reads: ({ translatedText }: Translated) => translatedText,
      finds: '[DE] Hello world',
      charged: 11,
    },
  ],
  'deep-translator by Microsoft': [
    {
      does: 'translates into several languages by names of its own',
      send: 'POST /translator/text/v3.0/translate?api-version=3.0&to=zh-chs&to=no&from=en',
      headers: { ...REQUESTS, ...JSON_TYPE, 'ocp-apim-subscription-key': KEY },
      body: '[{"text": "Hello"}]',
      reads: ([first]: readonly AzureTranslations[]) => first!.translations.map(({ text }) => text),
      finds: ['[ZH] Hello', '[NB] Hello'],
      charged: 10,
    },
  ],
};

onOneGateway({ config: { plugins: PLUGINS } }, (setting) => {
  const charged = (of: Pick<TestTeam, 'teamId'>) => setting.gateway.charged(of);

  describe.each(Object.entries(CLIENTS))('%s', (_client, replays) => {
    let team: TestTeam;
    beforeEach(async () => {
      team = await setting.gateway.team();
    });

    test.each(replays)('$does', async ({ send, headers = {}, body, status = 200, reads, finds, charged: price = 0 }) => {
      const withKey = (text: string): string => text.replaceAll(KEY, team.key);
      const [method = '', path = ''] = withKey(send).split(' ');
      const response = await request({
        port: setting.gateway.port,
        method,
        path,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withKey(value)])),
        ...(body === undefined ? {} : { body: withKey(body) }),
      });
      expect([response.status, response.body]).toEqual([status, expect.any(String)]);
      expect(reads(response.json() as never)).toEqual(finds);
      await expect.poll(() => charged(team)).toBe(price);
    });
  });
});
