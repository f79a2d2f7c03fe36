// What all operations of LibreTranslate's API share: problems in its form, where keys and
// parameters are, and codes of languages as it writes them.
import { problems, refuse, SOURCE_LANG_NEEDED, targetsOffered } from 'lingate';
import type { Exchange, GatewayServices, Languages, PluginHost, Problem, ProblemCode, ProblemForm, Refusal, TooManyValues } from 'lingate';
import { lowerBase, VendorCodes } from '../facades/codes.ts';
import type { DefaultVariants } from '../facades/codes.ts';
import { bodyKeyStep, bodyKeySteps, keyStep, membersOnce, uploadKeyStep } from '../facades/keys.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { isJsonType, withQuery } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import { isRefusal } from '../facades/parameters.ts';
import type { Judged } from '../facades/parameters.ts';
import { optional } from '../facades/reference.ts';

/** Wrong or missing keys, and a quota or credit that is used up, are 403 there. */
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 403 };

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status({ code, fields, kind: { status } }) {
    if (code === 'document_failed') return statusOfFile(problems[fields?.['failed_with'] as ProblemCode]?.status);
    return code === 'engine_unavailable' ? 500 : (BY_STATUS[status] ?? status);
  },
  body: (problem) => JSON.stringify({ error: wordsOf(problem) }),
};

/** Of an untranslated file, by that of its failure; none of them is worth trying again, as for texts. */
function statusOfFile(status = 500): number {
  return status < 429 ? (BY_STATUS[status] ?? status) : 500;
}

function wordsOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  if (problem === SOURCE_LANG_NEEDED.problem) {
    return 'Invalid request: missing source parameter, because the engine of this service does not detect languages';
  }
  if (code === 'rate_limited') return `Slowdown: ${Number(fields['limit'])} per 1 second`;
  return code === 'text_too_long' ? tooLong(Number(fields['characters']), Number(fields['max_characters'])) : detail;
}

/** The message for too many characters, and for too many texts. */
function tooLong(size: number | string, limit: number): string {
  return `Invalid request: request (${size}) exceeds text limit (${limit})`;
}

export const invalid = (detail: string): Refusal => refuse('validation_error', detail);

export const missing = (named: string): Refusal => invalid(`Invalid request: missing ${named} parameter`);

/** Twenty calls of the engine. */
export const TEXTS_MAX = 1000;

export function tooMany(count: number | string): Refusal {
  return refuse('too_many_texts', tooLong(count, TEXTS_MAX), { max_texts: TEXTS_MAX });
}

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

const API = 'libretranslate';
const KEY = 'api_key';

export const API_KEY = {
  name: KEY,
  does: 'nothing',
  about: 'The key, if no header has one and the operator allows it here.',
} as const;

/** The same in the form of a file. */
export const ApiKey = optional(API_KEY.about);

/** The first steps of uploads after the access log; the step that holds the file comes next. */
export const UPLOADING = ['shed', `${API}-key`, `${API}-key-in-upload`, 'authenticate-body-key', 'team-shed'] as const;

export interface LibreTranslateApi extends FacadeApi {
  /** Identifies the caller. */
  readonly key: ApiPart;
  /** Of the body and, unless that is JSON, of the query. */
  readonly members: (x: Exchange, services: GatewayServices) => Judged<Members>;
}

export function libreTranslateApi(variants: DefaultVariants, { inBody, inQuery }: KeyOptions, host: PluginHost): LibreTranslateApi {
  const rules = {
    slot: host.reserveSlot<Judged<Members> | undefined>('parameters') satisfies ReadSlot,
    tooMany: ((_, member) => (member === 'q' ? tooMany(`over ${TEXTS_MAX}`) : undefined)) satisfies TooManyValues,
  };
  const elsewhere = [...(inBody ? [KEY] : []), ...(inQuery ? [`?${KEY}=<key>`] : [])];
  const ways = [...elsewhere, '"Authorization: Bearer <key>"'].join(', or as ');
  const noKey = refuse('unauthorized', `No API key was sent. Send it as ${ways}.`);
  const sources = { api: API, parameter: inQuery ? KEY : undefined, noKey };
  return {
    name: API,
    variants,
    before: ['access-log', 'shed', `${API}-key`, 'authenticate', ...bodyKeySteps(API), 'team-shed'],
    key: {
      routes: [],
      steps: (services) => [
        // Without a key in the body, this step has already refused whoever sends none.
        keyStep({ ...sources, member: inBody ? KEY : undefined }, services),
        bodyKeyStep({ ...sources, member: KEY }, rules, services),
        ...(services.documents === undefined ? [] : [uploadKeyStep({ ...sources, member: KEY }, services.documents, services)]),
      ],
    },
    members(x, { bodyBytesMax }) {
      const sent = membersOnce(x, rules, bodyBytesMax);
      const isJson = isJsonType(x.head.headers);
      if (isRefusal(sent) || (isJson && sent.size > 0)) return sent;
      const all = withQuery(sent, x.head.query, NAMES);
      return isRefusal(all) || isJson ? all : new Map([...all].map(([name, value]) => [name, lineFeeds(value)]));
    },
  };
}

/** None of these may be both in the query and in the body. */
const NAMES = ['q', 'source', 'target', 'format', 'alternatives', 'text', 'source_lang', 'target_lang', 'tag_handling'];

/** With line feeds only, as LibreTranslate reads it: what a browser adds is free. */
function lineFeeds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lineFeeds);
  return typeof value === 'string' && value.includes('\r\n') ? withoutReturns(value) : value;
}

const RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** In bytes: splitting into half a million strings would block for tens of milliseconds. */
function withoutReturns(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== RETURN || bytes[at + 1] !== LINE_FEED) bytes[length++] = bytes[at]!;
  }
  return bytes.toString('utf8', 0, length);
}

/** Two codes only this API has, and only in lower case. */
export const CODES = new VendorCodes(lowerBase, (code) => (code === 'pb' ? 'PT-BR' : code === 'zt' ? 'ZH-HANT' : code));

const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/;

/** Clients look for these words after the code, which is repeated if it looks like one. */
export function unsupported(code: 'invalid_source_lang' | 'invalid_target_lang', named: string, value: unknown): Refusal {
  return refuse(code, `${typeof value === 'string' && LANGUAGE.test(value) ? value : named} is not supported`);
}

/** Codes are canonical. */
export function unavailablePair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const named = (code: string): string => `${languages.nameOf(code) ?? code} (${lowerBase(code)})`;
  const from = sourceLang === undefined ? '' : ` from ${named(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, lowerBase);
  return invalid(`${named(targetLang)} is not available as a target language${from}; ${offered}`);
}
