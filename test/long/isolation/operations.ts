// What a team can do to the others: every route at its most expensive, with bodies of maximum length.

export interface NoisyRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Operation {
  readonly name: string;
  readonly requests: readonly NoisyRequest[];
  /** If it is not at the plan's rate. */
  readonly perSecond?: number;
}

/** Sends far more than its plan allows. */
export const FLOOD = 'translate, 250 a second';

/** Glossaries of the noisy team. */
export interface NoisyGlossaries {
  /** One dictionary of nearly all the bytes that a team may have. */
  readonly large: string;
  /** Five that share the rest. */
  readonly several: readonly string[];
}

const BODY_BYTES = 1_048_576;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

export function operations(key: string, { large, several }: NoisyGlossaries): readonly Operation[] {
  const send = (method: string, path: string, body: unknown = '', type = JSON_TYPE): NoisyRequest => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const length: Record<string, string> =
      method === 'GET' || method === 'DELETE' ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) };
    return { method, path, headers: { authorization: `Bearer ${key}`, ...length }, body: text };
  };
  const translate = (more: object) => send('POST', '/v1/translate', { text: ['one'], source_lang: 'EN', target_lang: 'DE', ...more });
  const deepl = (more: object) => send('POST', '/v2/translate', { text: ['one'], source_lang: 'EN', target_lang: 'DE', ...more });
  const [largeUuid, uuids] = [uuidOf(large), several.map(uuidOf)];
  const terms = (count: number, length: number): [string, string][] =>
    Array.from({ length: count }, (_, i) => [`t${i}${'x'.repeat(length)}`, 'y'.repeat(length)]);
  const tsv = terms(4000, 100)
    .map((pair) => pair.join('\t'))
    .join('\n');
  const filled = (piece: string, wrap: (text: string) => string) => wrap(piece.repeat(Math.floor((BODY_BYTES - 100) / piece.length)));
  return [
    { name: 'translate, dictionary of 15 MiB', requests: [translate({ glossary_id: large })] },
    { name: 'v2, that dictionary named five times', requests: [deepl({ glossary_ids: Array.from({ length: 5 }, () => largeUuid) })] },
    {
      name: 'v2, six dictionaries in ever another order',
      requests: uuids.map((_, i) => deepl({ glossary_ids: [largeUuid, ...uuids.slice(i), ...uuids.slice(0, i)].slice(0, 5) })),
    },
    {
      name: 'read 15 MiB of entries (v1, v2, v3)',
      requests: [
        send('GET', `/v1/glossaries/${large}/entries`),
        send('GET', `/v2/glossaries/${largeUuid}/entries`),
        send('GET', `/v3/glossaries/${largeUuid}/entries?source_lang=en&target_lang=de`),
      ],
    },
    {
      name: 'PATCH a dictionary of 15 MiB',
      requests: Array.from({ length: 8 }, (_, i) =>
        send('PATCH', `/v3/glossaries/${largeUuid}`, {
          dictionaries: [{ source_lang: 'en', target_lang: 'de', entries: `t${i}\t${'z'.repeat(1000)}`, entries_format: 'tsv' }],
        }),
      ),
    },
    {
      name: 'PUT a dictionary of 0.8 MiB',
      requests: [
        send('PUT', `/v3/glossaries/${uuids[0]!}/dictionaries`, {
          source_lang: 'en',
          target_lang: 'de',
          entries: tsv,
          entries_format: 'tsv',
        }),
      ],
    },
    {
      name: 'create glossaries of 0.8 MiB (most refused)',
      requests: [
        send('POST', '/v1/glossaries', {
          name: 'n',
          source_lang: 'EN',
          target_lang: 'DE',
          entries: Object.fromEntries<string>(terms(4000, 100)),
        }),
      ],
    },
    {
      name: 'list 100 glossaries',
      requests: [send('GET', '/v1/glossaries'), send('GET', '/v2/glossaries'), send('GET', '/v3/glossaries')],
    },
    { name: FLOOD, requests: [translate({})], perSecond: 250 },
    { name: 'translate 50 texts of 1,000', requests: [translate({ text: Array.from({ length: 50 }, () => 'word '.repeat(200)) })] },
    { name: '1 MiB of texts that are too long', requests: [translate({ text: Array.from({ length: 50 }, () => 'é'.repeat(10_000)) })] },
    {
      name: '1 MiB of brackets',
      requests: [
        send(
          'POST',
          '/v1/translate',
          filled('[', (text) => `{"text":${text}`),
        ),
      ],
    },
    {
      name: '1 MiB of small members',
      requests: [
        send(
          'POST',
          '/v1/translate',
          filled('{"a":[0]},', (text) => `{"text":[${text}0]}`),
        ),
      ],
    },
    {
      name: '1 MiB form of a&a&… (v2)',
      requests: [
        send(
          'POST',
          '/v2/translate',
          filled('a&', (text) => text),
          FORM_TYPE,
        ),
      ],
    },
    {
      name: '1 MiB form of escapes (LibreTranslate)',
      requests: [
        send(
          'POST',
          '/translate',
          filled('%C3%A9', (text) => `q=${text}`),
          FORM_TYPE,
        ),
      ],
    },
    {
      name: 'LibreTranslate, languages and detection',
      requests: [send('GET', '/languages'), send('POST', '/detect', { q: 'word '.repeat(1000) })],
    },
    {
      name: 'Azure, a text into 50 languages, detection of 50 texts',
      requests: [
        send('POST', `/translator/text/v3.0/translate?api-version=3.0${'&to=de'.repeat(50)}`, [{ Text: 'word '.repeat(200) }]),
        send(
          'POST',
          '/translator/text/v3.0/detect?api-version=3.0',
          Array.from({ length: 50 }, () => ({ Text: 'word '.repeat(200) })),
        ),
      ],
    },
    {
      name: 'usage, languages',
      requests: [send('GET', '/v1/usage'), send('GET', '/v1/languages'), send('GET', '/v2/usage'), send('GET', '/v2/languages')],
    },
    { name: 'forward route, answers of 4 MiB', requests: [send('GET', '/v1/files')] },
    { name: 'forward route, bodies of 8 MiB', requests: [send('POST', '/v1/files', 'x'.repeat(8 * BODY_BYTES), 'text/plain')] },
  ];
}

/** A glossary's id in DeepL's format: the same 128 bits. Written here, because the plugin's own function only loads inside a gateway. */
function uuidOf(ulid: string): string {
  let bits = 0n;
  for (const letter of ulid) bits = bits * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter));
  return bits
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
