// What programs that people use send to the APIs of DeepL, LibreTranslate, Google and Azure, byte by byte: the answer has what each
// of them reads, and the characters that it is charged are those that it has sent.
import { expect, test } from 'vitest';
import { onOneGateway } from '../../support/every-gateway.ts';
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
  readonly send: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** 200 by default. */
  readonly status?: number;
  /** What the program reads of the answer's JSON. */
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
const MASTODON = { 'user-agent': 'Mastodon/4.4 (http.rb/5.3.1; +https://example.social/)', 'accept-encoding': 'gzip' };
const DISCOURSE = { ...FORM_TYPE, referer: 'https://forum.example', 'user-agent': 'excon/1.2.3' };
const DIALECT = { 'user-agent': 'Dialect App' };
const OVERRIDDEN = { ...FORM_TYPE, 'x-http-method-override': 'GET', 'user-agent': 'Mozilla/5.0' };
const AZURE = { ...JSON_TYPE, 'ocp-apim-subscription-key': KEY, 'user-agent': 'Faraday v2.12.2' };

const texts = (...all: readonly string[]) => ({ translations: all.map((text) => ({ text })) });
const google = (text: string) => ({ data: { translations: [{ translatedText: text }] } });
const azure = (...all: readonly string[]) => [{ translations: all.map((text) => ({ text })) }];
const among = (member: object): unknown => expect.arrayContaining([expect.objectContaining(member)]);
const A_STRING: unknown = expect.any(String);

/** By the program, and what it does. */
const REPLAYS: Readonly<Record<string, Replay>> = {
  'Weblate by DeepL lists the targets, with their formality': {
    send: 'GET /v2/languages?type=target',
    headers: { ...REQUESTS, ...DEEPL_KEY },
    finds: among({ language: 'DE', supports_formality: true }),
  },
  'Weblate by DeepL translates several strings as XML, in one of which a placeholder is marked': {
    send: 'POST /v2/translate',
    headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
    body: '{"text": ["Hello <x id=\\"6\\"></x>", "Save"], "source_lang": "EN", "target_lang": "DE", "formality": "default", "tag_handling": "xml", "ignore_tags": ["x"]}',
    finds: texts('[DE] Hello <x id="6"></x>', '[DE] Save'),
    charged: 24,
  },
  'Weblate by DeepL translates formally': {
    send: 'POST /v2/translate',
    headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
    body: '{"text": ["Save"], "source_lang": "EN", "target_lang": "DE", "formality": "more", "tag_handling": "xml", "ignore_tags": ["x"], "model_type": "prefer_quality_optimized"}',
    finds: texts('[DE] Save'),
    charged: 4,
  },
  'Weblate by DeepL looks for glossaries': {
    send: 'GET /v2/glossary-language-pairs',
    headers: { ...REQUESTS, ...DEEPL_KEY },
    finds: { supported_languages: among({ source_lang: 'en', target_lang: 'de' }) },
  },
  'Weblate by DeepL shows the message of a failure': {
    send: 'POST /v2/translate',
    headers: { ...REQUESTS, ...DEEPL_KEY, ...JSON_TYPE },
    body: `{"text": [${Array.from({ length: 51 }, () => '"a"').join(', ')}], "target_lang": "DE"}`,
    status: 413,
    finds: { message: 'Too many texts: at most 50' },
  },
  'Weblate by Google lists the languages': {
    send: `GET /language/translate/v2/languages?key=${KEY}`,
    headers: REQUESTS,
    finds: { data: { languages: among({ language: 'no' }) } },
  },
  'Weblate by Google translates, by GET and with a slash at the end of the path': {
    send: `GET /language/translate/v2/?key=${KEY}&q=Hello%2C+world%21&source=en&target=zh-CN&format=text`,
    headers: REQUESTS,
    finds: google('[ZH] Hello, world!'),
    charged: 13,
  },
  'Mastodon by DeepL translates a post with its warning as HTML: a form whose source has no value': {
    send: 'POST /v2/translate',
    headers: { ...DEEPL_KEY, ...FORM_TYPE, ...MASTODON },
    body: 'text=%3Cp%3EHello%3C%2Fp%3E&text=&source_lang&target_lang=de&tag_handling=html',
    finds: { translations: [{ text: '[DE] <p>Hello</p>', detected_source_language: 'EN' }, { text: '' }] },
    charged: 12,
  },
  'Mastodon by LibreTranslate translates as HTML, detecting the language': {
    send: 'POST /translate',
    headers: { ...JSON_TYPE, ...MASTODON },
    body: `{"q":["<p>Hello</p>"],"source":"auto","target":"de","format":"html","api_key":"${KEY}"}`,
    finds: { translatedText: ['[DE] <p>Hello</p>'] },
    charged: 12,
  },
  'Mastodon by LibreTranslate takes a wrong key for a quota that is used up': {
    send: 'POST /translate',
    headers: JSON_TYPE,
    body: '{"q":["<p>Hello</p>"],"source":"auto","target":"de","format":"html","api_key":""}',
    status: 403,
    finds: { error: A_STRING },
  },
  'Discourse by LibreTranslate detects the language of a post, in a form': {
    send: 'POST /detect',
    headers: DISCOURSE,
    body: `q=Hello&api_key=${KEY}`,
    finds: [{ language: 'en' }],
  },
  'Discourse by LibreTranslate translates it as HTML into its own name of a language': {
    send: 'POST /translate',
    headers: DISCOURSE,
    body: `q=%3Cp%3EHello%3C%2Fp%3E&source=en&target=iw&format=html&api_key=${KEY}`,
    finds: { translatedText: '[HE] <p>Hello</p>' },
    charged: 12,
  },
  'Discourse by Google detects the language of a post, with the key in the form': {
    send: 'POST /language/translate/v2/detect',
    headers: DISCOURSE,
    body: `q=Hello&key=${KEY}`,
    finds: { data: { detections: [[{ language: 'en' }]] } },
  },
  'Discourse by Google asks by POST whether the language is translated into that of the reader': {
    send: 'POST /language/translate/v2/languages',
    headers: DISCOURSE,
    body: `target=zh-TW&key=${KEY}`,
    finds: { data: { languages: among({ language: 'en' }) } },
  },
  'Discourse by Google translates': {
    send: 'POST /language/translate/v2',
    headers: DISCOURSE,
    body: `q=%3Cp%3EHello%3C%2Fp%3E&target=iw&key=${KEY}`,
    finds: google('[HE] <p>Hello</p>'),
    charged: 12,
  },
  'Discourse by Microsoft detects the language of a post': {
    send: 'POST /translator/text/v3.0/detect?api-version=3.0',
    headers: { ...AZURE, 'ocp-apim-subscription-region': 'westeurope' },
    body: '[{"Text":"Hello"}]',
    finds: [{ language: 'en' }],
  },
  'Discourse by Microsoft translates it as HTML': {
    send: 'POST /translator/text/v3.0/translate?api-version=3.0&from=en&to=zh-Hans&textType=html',
    headers: AZURE,
    body: '[{"Text":"<p>Hello</p>"}]',
    finds: azure('[ZH] <p>Hello</p>'),
    charged: 12,
  },
  'Zotero by a DeepLX address translates a sentence': {
    send: 'POST /translate',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${KEY}` },
    body: '{"text":"Hello","source_lang":"EN","target_lang":"DE"}',
    finds: { data: '[DE] Hello' },
    charged: 5,
  },
  'OmegaT by Google translates a segment as HTML, with the key in a form whose method is overridden': {
    send: 'POST /language/translate/v2',
    headers: OVERRIDDEN,
    body: `format=html&key=${KEY}&q=Press+%3Ct0%2F%3E&source=en&target=de`,
    finds: google('[DE] Press <t0/>'),
    charged: 11,
  },
  'OmegaT by Google translates into Chinese, with a model': {
    send: 'POST /language/translate/v2',
    headers: OVERRIDDEN,
    body: `format=html&key=${KEY}&model=nmt&q=Hello&source=en&target=ZH-CN`,
    finds: google('[ZH] Hello'),
    charged: 5,
  },
  'Dialect by LibreTranslate recognises the server': { send: 'GET /spec', headers: DIALECT, finds: { info: { title: 'LibreTranslate' } } },
  'Dialect by LibreTranslate reads the settings': {
    send: 'GET /frontend/settings',
    headers: DIALECT,
    finds: { suggestions: false, keyRequired: true, charLimit: -1 },
  },
  'Dialect by LibreTranslate checks a key with a form': {
    send: 'POST /detect',
    headers: { ...FORM_TYPE, ...DIALECT },
    body: `q=hello&api_key=${KEY}`,
    finds: [{ confidence: expect.any(Number) as unknown }],
  },
  'Dialect by LibreTranslate translates while one types, nothing included': {
    send: 'POST /translate',
    headers: { ...JSON_TYPE, ...DIALECT },
    body: `{"q": "", "source": "auto", "target": "de", "api_key": "${KEY}"}`,
    finds: { translatedText: '' },
  },
  'Dialect by LibreTranslate translates, and shows the language that was detected': {
    send: 'POST /translate',
    headers: { ...JSON_TYPE, ...DIALECT },
    body: `{"q": "Hello", "source": "auto", "target": "de", "api_key": "${KEY}"}`,
    finds: { translatedText: '[DE] Hello', detectedLanguage: { language: 'en' } },
    charged: 5,
  },
  'Dialect by LibreTranslate recognises a language that is not there': {
    send: 'POST /translate',
    headers: { ...JSON_TYPE, ...DIALECT },
    body: `{"q": "Hello", "source": "auto", "target": "tlh", "api_key": "${KEY}"}`,
    status: 400,
    finds: { error: 'tlh is not supported' },
  },
  'libretranslatepy translates': {
    send: 'POST /translate',
    headers: URLLIB,
    body: `q=Hello%2C+world%21&source=en&target=de&api_key=${KEY}`,
    finds: { translatedText: '[DE] Hello, world!' },
    charged: 13,
  },
  'libretranslatepy lists the languages, by a GET with the key in its body': {
    send: 'GET /languages',
    headers: URLLIB,
    body: `api_key=${KEY}`,
    finds: among({ code: 'de' }),
  },
  'deep-translator by LibreTranslate translates with everything in the query, and no body': {
    send: `POST /translate?q=Hello+world&source=en&target=de&format=text&api_key=${KEY}`,
    headers: { ...REQUESTS, 'content-length': '0' },
    finds: { translatedText: '[DE] Hello world' },
    charged: 11,
  },
  'deep-translator by Microsoft translates into several languages by names of its own': {
    send: 'POST /translator/text/v3.0/translate?api-version=3.0&to=zh-chs&to=no&from=en',
    headers: { ...REQUESTS, ...AZURE },
    body: '[{"text": "Hello"}]',
    finds: azure('[ZH] Hello', '[NB] Hello'),
    charged: 10,
  },
};

onOneGateway({ config: { plugins: PLUGINS } }, (setting) => {
  test.each(Object.entries(REPLAYS))('%s', async (_what, { send, headers = {}, body, status = 200, finds, charged = 0 }) => {
    const team = await setting.gateway.team();
    const withKey = (text: string): string => text.replaceAll(KEY, team.key);
    const [method = '', path = ''] = withKey(send).split(' ');
    const response = await request({
      port: setting.gateway.port,
      method,
      path,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withKey(value)])),
      ...(body === undefined ? {} : { body: withKey(body) }),
    });
    expect({ status: response.status, answer: response.json() }).toMatchObject({ status, answer: finds });
    await expect.poll(() => setting.gateway.charged(team)).toBe(charged);
  });
});
