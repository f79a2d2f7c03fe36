// A server that keeps dictionaries and translates with them by the rules of DeepL's own description of its API: limits, statuses, ids
// that are gone, dictionaries that are not ready at once. What breaks a rule is refused, as there.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const KEY = 'deepl-key:fx';
const AUTHORIZATION = `DeepL-Auth-Key ${KEY}`;
const PHRASE_BYTES_MAX = 1024;
const BYTES_MAX = 10_485_760;
const NUMBER_MAX = 1000;
/** The languages of dictionaries, by base code. */
const LANGUAGES = new Set('da de en es fr it ja ko nb nl pl pt ro ru sv zh'.split(' '));
const UNFIT = /[\p{Cc}\u2028\u2029]/u;

interface StoredDictionary {
  readonly id: string;
  readonly name: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entries: ReadonlyMap<string, string>;
  readonly madeAtMs: number;
  /** How many more requests learn that it is not ready. */
  unreadyFor: number;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

export interface DeepLServerOptions {
  readonly nowMs?: () => number;
  /** Decides for each request what goes wrong: a status in place of an answer, `hang`, or nothing. */
  readonly fault?: (route: string) => number | 'hang' | undefined;
  /** What each request waits for before it is handled. */
  readonly before?: (route: string) => Promise<void> | undefined;
  /** For how many requests a new dictionary is not ready. */
  readonly unreadyFor?: () => number;
  readonly numberMax?: number;
}

export class DeepLServer {
  readonly url: string;
  readonly key = KEY;
  /** In order of creation. */
  readonly stored = new Map<string, StoredDictionary>();
  /** Requests by route, as `POST /v2/glossaries`. */
  readonly counts = new Map<string, number>();
  /** What a request broke; a client that keeps to the rules leaves it empty. */
  readonly broken: string[] = [];
  readonly #options: DeepLServerOptions;
  readonly #close: () => Promise<void>;

  constructor(url: string, options: DeepLServerOptions, close: () => Promise<void>) {
    this.url = url;
    this.#options = options;
    this.#close = close;
  }

  close(): Promise<void> {
    return this.#close();
  }

  get names(): readonly string[] {
    return [...this.stored.values()].map(({ name }) => name);
  }

  count(route: string): number {
    return this.counts.get(route) ?? 0;
  }

  /** A dictionary that somebody else keeps in the same account. */
  keepForeign(name: string): void {
    this.#add({ name, sourceLang: 'en', targetLang: 'de', entries: new Map([['a', 'b']]) });
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, path = '', id] = /^(\/v2\/(?:glossaries|translate))(?:\/([\w-]+))?$/.exec(request.url ?? '') ?? [];
    const route = `${request.method} ${path}${id === undefined ? '' : '/{id}'}`;
    this.counts.set(route, this.count(route) + 1);
    await this.#options.before?.(route);
    const fault = this.#options.fault?.(route);
    if (fault === 'hang') return;
    const { status, body } =
      fault === undefined
        ? this.#judge(request, route, id, Buffer.concat(chunks).toString())
        : { status: fault, body: { message: 'fault' } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? undefined : JSON.stringify(body));
  }

  #judge({ headers }: IncomingMessage, route: string, id: string | undefined, body: string): Answer {
    if (headers.authorization !== AUTHORIZATION) return { status: 403, body: { message: 'Forbidden' } };
    switch (route) {
      case 'GET /v2/glossaries':
        return { status: 200, body: { glossaries: [...this.stored.values()].map((one) => shown(one)) } };
      case 'POST /v2/glossaries':
        return this.#create(JSON.parse(body) as Readonly<Record<string, unknown>>);
      case 'GET /v2/glossaries/{id}': {
        const found = this.stored.get(id!);
        if (found === undefined) return NOT_FOUND;
        if (found.unreadyFor > 0) found.unreadyFor--;
        return { status: 200, body: shown(found) };
      }
      case 'DELETE /v2/glossaries/{id}':
        return this.stored.delete(id!) ? { status: 204 } : NOT_FOUND;
      case 'POST /v2/translate':
        return this.#translate(JSON.parse(body) as Readonly<Record<string, unknown>>);
      default:
        return { status: 404, body: { message: 'Not found' } };
    }
  }

  #refuse(message: string): Answer {
    this.broken.push(message);
    return { status: 400, body: { message } };
  }

  #create({ name, source_lang: source, target_lang: target, entries, entries_format: format }: Readonly<Record<string, unknown>>): Answer {
    if (typeof name !== 'string' || name === '' || Buffer.byteLength(name) > PHRASE_BYTES_MAX) return this.#refuse('name');
    if (format !== 'tsv' || typeof entries !== 'string') return this.#refuse('entries_format');
    const [sourceLang, targetLang] = [String(source), String(target)];
    if (!LANGUAGES.has(sourceLang) || !LANGUAGES.has(targetLang) || sourceLang === targetLang) {
      return { status: 400, body: { message: 'Unsupported glossary source and target language pair' } };
    }
    if (Buffer.byteLength(entries) > BYTES_MAX) return { status: 413, body: { message: 'Too large' } };
    const found = new Map<string, string>();
    for (const line of entries.replace(/\n$/, '').split('\n')) {
      const phrases = line.split('\t');
      if (phrases.length !== 2) return this.#refuse('a line that is not a pair');
      const [from = '', into = ''] = phrases;
      for (const phrase of [from, into]) {
        if (phrase === '' || phrase.trim() !== phrase || UNFIT.test(phrase) || Buffer.byteLength(phrase) > PHRASE_BYTES_MAX) {
          return this.#refuse('a phrase that is not allowed');
        }
      }
      if (found.has(from)) return this.#refuse('a term twice');
      found.set(from, into);
    }
    if (this.stored.size >= (this.#options.numberMax ?? NUMBER_MAX)) return { status: 400, body: { message: 'Too many glossaries' } };
    return { status: 201, body: shown(this.#add({ name, sourceLang, targetLang, entries: found })) };
  }

  #add(parts: Pick<StoredDictionary, 'name' | 'sourceLang' | 'targetLang' | 'entries'>): StoredDictionary {
    const madeAtMs = this.#options.nowMs?.() ?? Date.now();
    const made = { ...parts, id: randomUUID(), madeAtMs, unreadyFor: this.#options.unreadyFor?.() ?? 0 };
    this.stored.set(made.id, made);
    return made;
  }

  #translate(body: Readonly<Record<string, unknown>>): Answer {
    const { text, source_lang: source, target_lang: target, glossary_id: id } = body;
    const texts = text as readonly string[];
    if (id === undefined) return { status: 200, body: { translations: texts.map((one) => ({ text: `[${String(target)}] ${one}` })) } };
    if (typeof source !== 'string') return this.#refuse('glossary_id without source_lang');
    const found = typeof id === 'string' ? this.stored.get(id) : undefined;
    if (found === undefined) return { status: 404, body: { message: 'Glossary not found' } };
    if (found.unreadyFor > 0) return this.#refuse('a dictionary that is not ready');
    if (found.sourceLang !== baseOf(source) || found.targetLang !== baseOf(String(target)))
      return this.#refuse('a dictionary of another pair');
    return { status: 200, body: { translations: texts.map((one) => ({ text: found.entries.get(one) ?? `[${String(target)}] ${one}` })) } };
  }
}

const NOT_FOUND: Answer = { status: 404, body: { message: 'Not found' } };

function baseOf(code: string): string {
  return code.toLowerCase().split('-')[0]!;
}

function shown({ id, name, sourceLang, targetLang, entries, madeAtMs, unreadyFor }: StoredDictionary) {
  return {
    glossary_id: id,
    name,
    ready: unreadyFor === 0,
    source_lang: sourceLang,
    target_lang: targetLang,
    creation_time: new Date(madeAtMs).toISOString(),
    entry_count: entries.size,
  };
}

export async function startDeepLServer(options: DeepLServerOptions = {}): Promise<DeepLServer> {
  let made: DeepLServer | undefined = undefined as DeepLServer | undefined;
  const server = createServer((request, response) => void made!.answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  made = new DeepLServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options, async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return made;
}
