// Common to all requests of this API: the first steps, the key, and the parameters from the query, JSON or a form.
import { FORM_BODY_HEADERS, refuse, unknownAmong } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, ListLimit, Refusal, Step } from 'lingate';
import { readStep } from '../facades/api.ts';
import type { Taken } from '../facades/api.ts';
import { keyFieldStep } from '../facades/key-field.ts';
import { chosen, readMembers, readQueryMembers } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { judgeTexts } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { bodyTooLarge, missing } from './google-errors.ts';

/** Access log, load shedding, identification, the team's load shedding. */
export const AUTHENTICATED = ['access-log', 'shed', 'google-key', 'authenticate', 'team-shed'] as const;

const NO_KEY = refuse(
  'unauthorized',
  'Send one as "X-Goog-Api-Key: <key>" or "Authorization: Bearer <key>"; a key in the query is not accepted here.',
);
const NO_KEY_ANYWHERE = refuse('unauthorized', 'Send one as "X-Goog-Api-Key: <key>", as "Authorization: Bearer <key>" or as ?key=<key>.');

export function keyStep(services: GatewayServices, inQuery: boolean): Step {
  const place = { field: 'x-goog-api-key', parameter: inQuery ? 'key' : undefined, noKey: inQuery ? NO_KEY_ANYWHERE : NO_KEY };
  return keyFieldStep('google-key', place, services);
}

/** As many as Google accepts. */
export const TEXTS_MAX = 128;
/** Also for a list in a body that is too large to count it. */
const TEXTS_LIMIT: ListLimit = {
  name: 'q',
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', `Too many text segments: at most ${TEXTS_MAX} are allowed in a request.`, { max_texts: TEXTS_MAX }),
};

/** For parameters in the query, in a JSON object or in a form. `take` as for `readStep`. */
export function readParameters(name: string, services: GatewayServices, take: (x: Exchange, members: Members) => Taken): BodyStep {
  const tooLarge = bodyTooLarge(services.bodyBytesMax);
  const read = (x: Exchange): Judged<Members> => (x.body === 'too_large' ? tooLarge : membersOf(x, services.bodyBytesMax));
  return readStep(name, FORM_BODY_HEADERS, services, read, take);
}

function membersOf(x: Exchange, bytesMax: number): Judged<Members> {
  const inQuery = readQueryMembers(x.head.query);
  if ('problem' in inQuery) return inQuery;
  const inBody = readMembers(x.head.headers, x.body, bytesMax, TEXTS_LIMIT);
  if ('problem' in inBody || inQuery.sound.size === 0) return inBody;
  if (inBody.sound.size === 0) return inQuery;
  const both = ['q', 'source', 'target', 'format', 'model'].find((one) => inQuery.sound.has(one) && inBody.sound.has(one));
  if (both !== undefined) return refuse('validation_error', `${both}: must not be both in the query and in the body.`);
  return { sound: new Map([...inQuery.sound, ...inBody.sound]) };
}

/**
 * Parameters that all of Google's APIs accept, for credentials, accounts and the format of the answer. None of them changes a
 * translation, and a key is never read from them; `callback`, which requests a script, is not among them.
 */
const STANDARD = [
  'key',
  'access_token',
  'oauth_token',
  'alt',
  '$alt',
  'prettyPrint',
  '$prettyPrint',
  'fields',
  '$fields',
  'quotaUser',
  'userIp',
  'userProject',
  'uploadType',
  'upload_protocol',
  '$.xgafv',
] as const;

/** Both names have meant the same model for years. */
const MODELS = ['nmt', 'base'];

/** Refuses parameters that an operation does not have, because the answer would not be the requested one. */
export function unknownOf(members: Members, known: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong([...members.keys()], new Set([...STANDARD, ...known]));
  if (unknown !== undefined) return refuse('validation_error', `Unknown name: ${unknown}. Accepted are ${known.join(', ')}.`);
  const alt = chosen(members, 'alt') ?? chosen(members, '$alt') ?? 'json';
  return typeof alt === 'string' && alt.toLowerCase() === 'json' ? undefined : refuse('validation_error', 'alt: answers are json only.');
}

const FAULTS = {
  notText: () => refuse('validation_error', 'q: must be a string, or a list of strings.'),
  half: () => refuse('validation_error', 'q: has half of a surrogate pair, which is not a character.'),
  none: missing('Required Text: q must have at least one text that is not empty.'),
};

/** One text, or several. */
export function textsOf(members: Members): Judged<Texts> {
  const q = chosen(members, 'q');
  const entries: readonly unknown[] = Array.isArray(q) ? q : q === undefined ? [] : [q];
  return entries.length > TEXTS_MAX ? TEXTS_LIMIT.refusal : judgeTexts(entries, FAULTS);
}

/** Checked to find mistakes; has no effect. */
export function modelFault(members: Members): Refusal | undefined {
  const model = chosen(members, 'model');
  if (model === undefined || (typeof model === 'string' && MODELS.includes(model))) return undefined;
  return refuse('validation_error', `model: must be one of ${MODELS.join(', ')}.`);
}
