// Sends secrets through the APIs that plugins add: keys in bodies of every kind and where no key belongs, texts, engines that quote them.
import assert from 'node:assert/strict';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { ANSWERING, UNUSABLE, asking } from './leaky-engine.ts';
import type { Answered, SecretTraffic } from './secret-traffic.ts';

interface Sent {
  /** Default POST. */
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Fields = Readonly<Record<string, unknown>>;

const BOUNDARY = 'lingate-boundary';

/** The same fields in every accepted kind of body. */
const KINDS: Readonly<Record<string, (path: string, fields: Fields) => Sent>> = {
  JSON: (path, fields) => ({ path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) }),
  form: (path, fields) => ({
    path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Object.entries(fields)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join('&'),
  }),
  parts: (path, fields) => ({
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: `${Object.entries(fields)
      .map(([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`)
      .join('')}--${BOUNDARY}--\r\n`,
  }),
};

const AZURE = '/translator/text/v3.0/translate?api-version=3.0';

function azureTranslation(key: string, text: string): Sent {
  return {
    path: `${AZURE}&to=de`,
    headers: { 'content-type': 'application/json', 'ocp-apim-subscription-key': key },
    body: JSON.stringify([{ Text: text }]),
  };
}

export class FacadeTraffic {
  readonly answers: Answered[] = [];
  readonly #site: LoadedGateway;
  readonly #secrets: SecretTraffic;

  constructor(site: LoadedGateway, secrets: SecretTraffic) {
    this.#site = site;
    this.#secrets = secrets;
  }

  async run(): Promise<void> {
    const { key } = await this.#secrets.team();
    for (const kind of Object.keys(KINDS)) await this.#everyKey(KINDS[kind]!, kind);
    await this.#keysAstray(key);
    await this.#googleKeys(key);
    await this.#engines(key);
    await this.#aborts(key);
  }

  /** Good and bad keys, in the body for LibreTranslate's API, in the fields for DeepL's and Azure's. */
  async #everyKey(kind: (path: string, fields: Fields) => Sent, name: string): Promise<void> {
    const { secret } = this.#secrets;
    const good = await this.#secrets.team();
    const revoked = await this.#secrets.team();
    await this.#site.store.teams.revokeKey(revoked.keyId);
    const poor = await this.#secrets.team({ ...QUOTA_PLAN, characters: 1 });
    const broke = await this.#secrets.team(CREDIT_PLAN, 0);
    const cases: readonly (readonly [string, libreTranslate: number, deepL: number, azure: number])[] = [
      [good.key, 200, 200, 200],
      [revoked.key, 403, 403, 401],
      [poor.key, 403, 456, 403],
      [broke.key, 403, 456, 403],
      [secret.unknownKey, 403, 403, 401],
      [secret.malformedKey, 403, 403, 401],
    ];
    for (const [key, libreTranslate, deepL, azure] of cases) {
      await this.#expect(`${name}, key in the body`, libreTranslate, kind('/translate', this.#asked({ api_key: key })));
      const { headers, ...sent } = kind('/v2/translate', { text: secret.text, target_lang: 'DE' });
      await this.#expect(`${name}, key in the fields`, deepL, { ...sent, headers: { ...headers, authorization: `DeepL-Auth-Key ${key}` } });
      await this.#expect(`${name}, key in Azure's field`, azure, azureTranslation(key, secret.text));
    }
    await this.#expect(`${name}, detection`, 200, kind('/detect', { q: secret.text, api_key: good.key }));
    await this.#expect(`${name}, DeepLX`, 200, kind('/translate', { text: secret.text, target_lang: 'DE', api_key: good.key }));
  }

  /** A good key in every place where a mistake could put it. */
  async #keysAstray(key: string): Promise<void> {
    const { JSON: json, form, parts } = KINDS;
    const keyed = (fields: Fields, path = '/translate'): Sent => json!(path, { ...this.#asked(), api_key: key, ...fields });
    const refused: readonly Sent[] = [
      ...['source', 'target', 'format', 'alternatives'].map((member) => keyed({ [member]: key })),
      ...['text', 'source_lang', 'target_lang', 'tag_handling'].map((member) =>
        keyed({ q: undefined, text: 'a', target_lang: 'DE', [member]: member === 'text' ? [key] : key }),
      ),
      { ...json!('/translate', {}), body: `{"q": "a", "source": "en" "api_key": "${key}"}` },
      { path: '/translate', headers: { 'content-type': `text/${key}` }, body: key },
      { path: '/translate', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `api_key=${key}&q=%ff` },
      { path: '/translate', headers: { 'content-type': `multipart/form-data; boundary=${key}` }, body: `--${key}\r\n${key}` },
      {
        ...parts!('/translate', {}),
        body: parts!('/translate', { api_key: key }).body.replace('form-data;', `form-data; filename="${key}";`),
      },
      keyed({ q: Array.from({ length: 51 }, () => key) }),
      keyed({ q: key.repeat(30) }, '/detect'),
    ];
    for (const sent of refused) await this.#expect('a key astray', 400, sent);
    const unknown: readonly Sent[] = [
      json!(`/translate?api_key=${key}`, this.#asked()),
      json!('/translate', this.#asked({ api_key: [key] })),
      json!('/translate', this.#asked({ api_key: { [key]: key } })),
      json!('/translate', this.#asked({ API_KEY: key, token: key, [key]: key })),
      form!(`/v2/translate?auth_key=${key}`, { text: 'a', target_lang: 'DE', auth_key: key }),
      {
        ...json!('/translate', this.#asked({ api_key: key })),
        headers: { 'content-type': 'application/json', authorization: `Basic ${key}` },
      },
    ];
    for (const sent of unknown) await this.#expect('a key that is none', 403, sent);
    for (const query of [`Subscription-Key=${key}`, `Ocp-Apim-Subscription-Key=${key}`]) {
      await this.#expect('a key that is none', 401, { ...azureTranslation('', 'a'), path: `${AZURE}&to=de&${query}` });
    }
    for (const query of [`from=${key}`, `to=${key}`, `category=${key}`, `toScript=${key}`, `suggestedFrom=${key}`]) {
      await this.#expect('a key astray', 400, { ...azureTranslation(key, 'a'), path: `${AZURE}&to=de&${query}` });
    }
    await this.#expect('a key astray', 400, { ...azureTranslation(key, ''), body: JSON.stringify([{ [key]: key }]) });
    await this.#expect('a path of nobody', 404, json!(`/${key}/translate`, this.#asked({ api_key: key })));
  }

  /** Google's API, which has keys in the query and in a field of its own, and texts in the query. */
  async #googleKeys(key: string): Promise<void> {
    const { text, unknownKey, malformedKey } = this.#secrets.secret;
    const path = '/language/translate/v2';
    const asked = { q: text, target: 'de' };
    const get = (query: string, headers: Sent['headers'] = {}): Sent => ({ method: 'GET', path: `${path}${query}`, headers, body: '' });
    for (const kind of [KINDS['JSON']!, KINDS['form']!]) {
      await this.#expect('key in the query', 200, kind(`${path}?key=${key}`, asked));
      await this.#expect('key in the query, a slash', 200, kind(`${path}/?key=${key}`, asked));
      await this.#expect('detection', 200, kind(`${path}/detect?key=${key}`, { q: text }));
      for (const bad of [unknownKey, malformedKey, `${key}x`, `${key}&key=${key}`]) {
        await this.#expect('a bad key in the query', 400, kind(`${path}?key=${bad}`, asked));
      }
      for (const astray of ['target', 'source', 'format', 'model', 'alt', 'cid']) {
        await this.#expect('a key astray', 400, kind(`${path}?key=${key}`, { ...asked, [astray]: key }));
      }
      await this.#expect('a key in the body alone', 400, kind(path, { ...asked, key, access_token: key }));
    }
    const words = encodeURIComponent(text);
    await this.#expect('texts in the query', 200, get(`?key=${key}&q=${words}&target=de`));
    await this.#expect('texts in the query, key in a field', 200, get(`?q=${words}&target=de`, { 'x-goog-api-key': key }));
    await this.#expect('texts in the query, wrong', 400, get(`?key=${key}&q=${words}&target=${words}`));
    await this.#expect('a broken query', 400, get(`?key=${key}&q=${words}&target=%zz`));
    await this.#expect('what is not offered', 404, get(`/${key}?key=${key}&q=${words}`));
    await this.#expect('an engine that fails', 503, get(`?key=${key}&q=${encodeURIComponent(asking('quoting'))}${words}&target=de`));
  }

  async #engines(key: string): Promise<void> {
    const text = (behaviour: string): string => asking(behaviour) + this.#secrets.secret.text;
    const json = KINDS['JSON']!;
    const authorization = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const through = (behaviour: string): readonly Sent[] => [
      json('/translate', { ...this.#asked({ api_key: key }), q: text(behaviour) }),
      json('/detect', { api_key: key, q: text(behaviour) }),
      { ...json('/v2/translate', { text: [text(behaviour)], target_lang: 'DE' }), headers: authorization },
      azureTranslation(key, text(behaviour)),
    ];
    const statuses = [500, 500, 503, 503];
    for (const name of ['not_json', 'bad_utf8', 'redirect', 'quoting', 'status_500', 'detected_not_string', 'reset']) {
      assert.ok(Object.hasOwn(UNUSABLE, name));
      for (const [i, sent] of through(name).entries()) await this.#expect(name, statuses[i]!, sent);
    }
    for (const name of Object.keys(ANSWERING)) for (const sent of through(name)) await this.#expect(name, 200, sent);
  }

  /** Callers who leave in the middle of a body that contains their key, and of the engine's work. */
  async #aborts(key: string): Promise<void> {
    const { engine, port } = this.#site;
    for (const kind of Object.values(KINDS)) {
      const sent = kind('/translate', { ...this.#asked({ api_key: key }), q: asking('hang') + this.#secrets.secret.text });
      const whole = requestBytes({ method: 'POST', ...sent });
      const before = engine.requests.length;
      for (const length of [whole.length - 5, whole.length]) {
        const connection = await RawConnection.open({ port });
        connection.send(whole.subarray(0, length));
        if (length === whole.length) await engine.until(() => engine.requests.length > before);
        connection.reset();
      }
    }
  }

  #asked(more: Fields = {}): Fields {
    return { q: this.#secrets.secret.text, source: 'en', target: 'de', ...more };
  }

  async #expect(name: string, status: number, { method = 'POST', path, headers, body }: Sent): Promise<void> {
    const { secret } = this.#secrets;
    const response = await request({
      port: this.#site.port,
      method,
      path,
      headers: { 'user-agent': secret.agent, cookie: `session=${secret.cookie}`, origin: `https://${secret.agent}.test`, ...headers },
      body,
    });
    this.answers.push({ name, response });
    assert.equal(response.status, status, `${name} at ${path.split('?', 1)[0]!}: ${response.body}`);
  }
}
