// How every chain of this API begins that needs a key, and the step before the admission that reads parameters.
import { chargeSlot, FORM_BODY_HEADERS, refuse, refusedCharge } from 'lingate';
import type { BodyStep, Charge, Exchange, GatewayServices, Refusal, Step } from 'lingate';
import { keyFieldStep } from '../facades/key-field.ts';
import { readMembers, readQueryMembers } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { bodyTooLarge } from './google-errors.ts';
import { TEXTS_LIMIT } from './google-parameters.ts';

/** Log, load shedding, whose key it is, the team's load shedding. */
export const AUTHENTICATED = ['access-log', 'shed', 'google-key', 'authenticate', 'team-shed'] as const;

const NO_KEY = refuse(
  'unauthorized',
  'Send one as "X-Goog-Api-Key: <key>" or "Authorization: Bearer <key>"; here none is taken from the query.',
);
const NO_KEY_ANYWHERE = refuse('unauthorized', 'Send one as "X-Goog-Api-Key: <key>", as "Authorization: Bearer <key>" or as ?key=<key>.');

export function keyStep(services: GatewayServices, inQuery: boolean): Step {
  const place = { field: 'x-goog-api-key', parameter: inQuery ? 'key' : undefined, noKey: inQuery ? NO_KEY_ANYWHERE : NO_KEY };
  return keyFieldStep('google-key', place, services);
}

/** Keeps what it makes of the parameters and says what that costs, if anything, or what is wrong with them. */
export type TakeParameters = (x: Exchange, members: Members) => Charge | Refusal | undefined;

/** For parameters in the query, in a JSON object or in a form. */
export function readParameters(name: string, services: GatewayServices, take: TakeParameters): BodyStep {
  const tooLarge = bodyTooLarge(services.bodyBytesMax);
  return {
    kind: 'body',
    name,
    headers: FORM_BODY_HEADERS,
    run(x) {
      const read = x.body === 'too_large' ? tooLarge : membersOf(x, services.bodyBytesMax);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      const taken = 'problem' in read ? read : take(x, read.sound);
      // A refusal is answered after the admission, so that a revoked key and the rate limit come first.
      if (taken !== undefined) x.set(chargeSlot, 'problem' in taken ? refusedCharge(taken) : taken);
      if (!('problem' in read)) services.judgeAgain(x, () => refusalIn(take(x, read.sound)));
      return undefined;
    },
  };
}

function refusalIn(taken: Charge | Refusal | undefined): Refusal | undefined {
  return taken !== undefined && 'problem' in taken ? taken : taken?.refusal;
}

function membersOf(x: Exchange, bytesMax: number): Judged<Members> {
  const inQuery = readQueryMembers(x.head.query);
  if (inQuery.kind === 'problem') return inQuery;
  const inBody = readMembers(x.head.headers, x.body, bytesMax, TEXTS_LIMIT);
  if (inBody.kind === 'problem') return inBody;
  if (inQuery.members.size === 0 || inBody.members.size === 0) {
    return { sound: inQuery.members.size === 0 ? inBody.members : inQuery.members };
  }
  const both = ['q', 'source', 'target', 'format', 'model'].find((name) => inQuery.members.has(name) && inBody.members.has(name));
  if (both !== undefined) return refuse('validation_error', `${both}: must not stand both in the query and in the body.`);
  return { sound: new Map([...inQuery.members, ...inBody.members]) };
}
