// The step that reads a request's parameters and, among them, the key; what is wrong with the parameters goes with the charge.
import { chargeSlot, FORM_BODY_HEADERS, refuse, refusedCharge } from 'lingate';
import type { BodyStep, Credential, Exchange, GatewayServices, Refusal } from 'lingate';
import { readMembers } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';

export interface KeyAndMembers {
  readonly name: string;
  readonly services: GatewayServices;
  /** Whether the key may stand in the body. */
  readonly keyInBody: boolean;
  /** Keeps what it makes of the parameters, or says what is wrong with them. */
  readonly take: (x: Exchange, members: Members) => Refusal | undefined;
}

const NO_KEY = refuse('unauthorized', 'No API key was sent. Send it as api_key, or as "Authorization: Bearer <key>".');
const NO_KEY_IN_FIELDS = refuse('unauthorized', 'No API key was sent. Send it as "Authorization: Bearer <key>".');

export function readKeyAndMembers({ name, services, keyInBody, take }: KeyAndMembers): BodyStep {
  const noKey = keyInBody ? NO_KEY : NO_KEY_IN_FIELDS;
  return {
    kind: 'body',
    name,
    headers: [...services.credentials.headers, ...FORM_BODY_HEADERS],
    run(x) {
      const read = readMembers(x.head.headers, x.body, services.bodyBytesMax);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      const sent = services.credentials.read(x.head.headers);
      // A body that cannot be read may hold a key: "no key" would be misleading.
      if (sent.kind === 'missing' && keyInBody && read.kind === 'problem') return read;
      const credential = sent.kind === 'missing' && keyInBody && read.kind === 'members' ? keyAmong(read.members, services) : sent;
      const refused = credential.kind === 'missing' ? noKey : services.identify(x, credential);
      if (refused !== undefined) return refused;
      const refusal = read.kind === 'members' ? take(x, read.members) : read;
      // Answered after the admission, so that a revoked key and the rate limit come first.
      if (refusal !== undefined) x.set(chargeSlot, x.get(chargeSlot) ?? refusedCharge(refusal));
      return undefined;
    },
  };
}

/** An empty key counts as none: clients without one send it so. */
function keyAmong(members: Members, { credentials }: GatewayServices): Credential {
  const key = members.get('api_key');
  if (key === undefined || key === null || key === '') return { kind: 'missing' };
  // As if it had come as a bearer token: one pattern for all keys.
  return typeof key === 'string' ? credentials.read({ authorization: `Bearer ${key}` }) : { kind: 'malformed' };
}
