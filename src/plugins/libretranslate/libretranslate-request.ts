// Common to all requests of this API: problems in its format, the steps that find the key, in headers or body, and the one that reads parameters.
import { FORM_BODY_HEADERS, isFormType, isMultipartType, LONG_BODY_BYTES, readFormBody, readMultipartBody, refuse } from 'lingate';
import type {
  BodyStep,
  Credential,
  Exchange,
  FormBody,
  GatewayServices,
  ListLimit,
  Problem,
  ProblemForm,
  Refusal,
  Slot,
  Step,
} from 'lingate';
import { readStep } from '../facades/api.ts';
import type { Taken } from '../facades/api.ts';
import { readMembers } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { optional } from '../facades/reference.ts';
import { PIECE_TEXTS } from '../facades/texts.ts';

/** Wrong or missing keys, and a used-up quota or credit, are 403 there. */
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 403 };

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ code, kind: { status } }) => (code === 'engine_unavailable' ? 500 : (BY_STATUS[status] ?? status)),
  body: (problem) => JSON.stringify({ error: wordsOf(problem) }),
};

function wordsOf({ code, detail, fields = {} }: Problem): string {
  if (code === 'rate_limited') return `Slowdown: ${fields['limit']} per 1 second`;
  if (code === 'text_too_long') return tooLong(fields['characters'], fields['max_characters']);
  return detail;
}

/** The message for too many characters, and for too many texts. */
function tooLong(size: number | string | undefined, limit: number | string | undefined): string {
  return `Invalid request: request (${size}) exceeds text limit (${limit})`;
}

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

export const ApiKey = optional('The key, if no header has one and the operator allows it here.');

/** For a list in a body that is too large to count it. */
const TEXTS_LIMIT: ListLimit = { name: 'q', entriesMax: PIECE_TEXTS, refusal: tooMany(`over ${PIECE_TEXTS}`) };

export function tooMany(count: number | string): Refusal {
  return refuse('too_many_texts', tooLong(count, PIECE_TEXTS), { max_texts: PIECE_TEXTS });
}

/** A key after these bytes is not found. */
const KEY_WITHIN_BYTES = 65_536;

/** The first steps of every route that needs a key; the step that reads the parameters comes next. */
export const AUTHENTICATED = [
  'access-log',
  'shed',
  'libretranslate-key',
  'authenticate',
  'libretranslate-key-in-body',
  'authenticate-body-key',
  'team-shed',
] as const;

/** Parameters that were read to find the key. */
export type ReadSlot = Slot<Judged<Members> | undefined>;

const NO_KEY = refuse('unauthorized', 'No API key was sent. Send it as api_key, or as "Authorization: Bearer <key>".');
const NO_KEY_IN_BEGINNING = refuse(
  'unauthorized',
  `No API key was found. Send it as "Authorization: Bearer <key>", or as api_key within the first ${KEY_WITHIN_BYTES} bytes.`,
);
const NO_KEY_IN_FIELDS = refuse('unauthorized', 'No API key was sent. Send it as "Authorization: Bearer <key>".');

export function keySteps(services: GatewayServices, keyInBody: boolean, slot: ReadSlot): readonly Step[] {
  const { credentials } = services;
  return [
    {
      kind: 'head',
      name: 'libretranslate-key',
      headers: credentials.headers,
      run(x) {
        const credential = credentials.read(x.head.headers);
        if (credential.kind !== 'missing') return services.identify(x, credential);
        return keyInBody ? undefined : NO_KEY_IN_FIELDS;
      },
    },
    {
      kind: 'body',
      name: 'libretranslate-key-in-body',
      headers: FORM_BODY_HEADERS,
      run(x) {
        if (credentials.read(x.head.headers).kind !== 'missing') return undefined;
        const { body } = x;
        if (typeof body !== 'string' && body.length > LONG_BODY_BYTES) {
          const begun = keyInBeginning(x.head.headers, body);
          // An error in the beginning is an error in the whole body.
          if ('problem' in begun) return begun;
          const key = credentialOf(begun.sound, services);
          return key.kind === 'missing' ? NO_KEY_IN_BEGINNING : services.identify(x, key);
        }
        const read = readMembers(x.head.headers, body, services.bodyBytesMax, TEXTS_LIMIT);
        // A body that cannot be parsed may contain a key: "no key" would be misleading.
        if ('problem' in read) return read;
        x.set(slot, read);
        const key = credentialOf(read.sound.get('api_key'), services);
        return key.kind === 'missing' ? NO_KEY : services.identify(x, key);
      },
    },
  ];
}

/** `take` as for `readStep`. */
export function readParameters(
  name: string,
  services: GatewayServices,
  slot: ReadSlot,
  take: (x: Exchange, members: Members) => Taken,
): BodyStep {
  const read = (x: Exchange): Judged<Members> => {
    const known = x.get(slot);
    if (known === undefined) return readMembers(x.head.headers, x.body, services.bodyBytesMax, TEXTS_LIMIT);
    // A slow engine must not keep it in memory.
    x.set(slot, undefined);
    return known;
  };
  return readStep(name, FORM_BODY_HEADERS, services, read, take);
}

/** An empty key counts as none: clients without one send it. */
function credentialOf(key: unknown, { credentials }: GatewayServices): Credential {
  if (key === undefined || key === null || key === '') return { kind: 'missing' };
  // As if it were a bearer token: one pattern for all keys.
  return typeof key === 'string' ? credentials.read({ authorization: `Bearer ${key}` }) : { kind: 'malformed' };
}

const NAME = 'api_key';
/** Strings, punctuation, and what is between them. An unterminated string is not a token. */
const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]|[^"{}[\],:]+/y;

/** The value in the body, of whatever type; `undefined` if the beginning has none. */
function keyInBeginning(headers: Readonly<Record<string, string>>, body: Uint8Array): Judged<unknown> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const isWhole = bytes.length <= KEY_WITHIN_BYTES;
  if (isFormType(headers)) return only(readFormBody(headers, isWhole ? bytes : wholeFields(bytes), KEY_WITHIN_BYTES));
  if (!isMultipartType(headers)) return { sound: memberIn(bytes.toString('utf8', 0, KEY_WITHIN_BYTES)) };
  return only(readMultipartBody(headers, isWhole ? bytes : wholeParts(bytes), KEY_WITHIN_BYTES));
}

/** A repeated field is not a key, because it is unclear which one is meant. */
function only(form: FormBody): Judged<unknown> {
  if (form.kind === 'refused') return form.refusal;
  const values = form.fields.filter(([name]) => name === NAME).map(([, value]) => value);
  return { sound: values.length > 1 ? values : values[0] };
}

/** The fields that end within the beginning; the delimiter may be right after it. */
function wholeFields(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.max(0, bytes.lastIndexOf('&', KEY_WITHIN_BYTES)));
}

/** The same for multipart forms, closed like a whole body. The first line is the boundary; without one there is nothing. */
function wholeParts(bytes: Buffer): Buffer {
  const firstEnd = bytes.subarray(0, KEY_WITHIN_BYTES).indexOf('\r\n');
  if (firstEnd === -1) return bytes.subarray(0, KEY_WITHIN_BYTES);
  const delimiter = `\r\n${bytes.toString('latin1', 0, firstEnd)}`;
  const end = bytes.lastIndexOf(delimiter, KEY_WITHIN_BYTES, 'latin1');
  const closing = Buffer.from(end <= 0 ? '--' : `${delimiter}--`, 'latin1');
  return Buffer.concat([bytes.subarray(0, end <= 0 ? firstEnd : end), closing]);
}

/** A member of the outermost object; the last one counts, as for `JSON.parse`. */
function memberIn(text: string): unknown {
  let found: unknown = undefined;
  let depth = 0;
  let last = '';
  let name: string | undefined = undefined;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text)?.[0]; token !== undefined; token = TOKEN.exec(text)?.[0]) {
    if (token === '{' || token === '[') depth++;
    else if (depth === 1 && token === ':') name = valueOf(last) as string;
    else if (depth === 1 && (token === ',' || token === '}')) {
      if (name === NAME) found = valueOf(last);
      name = undefined;
    }
    if (token === '}' || token === ']') depth--;
    if (token.trim() !== '') last = token;
  }
  // The last string of the beginning, if what follows ends it.
  return depth === 1 && name === NAME && last.startsWith('"') ? valueOf(last) : found;
}

/** The value of a token; for a token that is not a value, such as the end of a list, the token itself, which is not a key. */
function valueOf(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return token;
  }
}
