// The steps that find a request's key, in its fields or in its body, and the one that reads its parameters.
import { chargeSlot, FORM_BODY_HEADERS, LONG_BODY_BYTES, refuse, refusedCharge } from 'lingate';
import type { BodyStep, Credential, Exchange, GatewayServices, PluginHost, Refusal, Slot, Step } from 'lingate';
import { readMembers } from '../facades/members.ts';
import type { Members, ReadMembers } from '../facades/members.ts';
import { KEY_WITHIN_BYTES, keyInBeginning } from './key-in-beginning.ts';

/** How every route begins that needs a key; the step that reads the parameters comes next. */
export const AUTHENTICATED = [
  'access-log',
  'shed',
  'libretranslate-key',
  'authenticate',
  'libretranslate-key-in-body',
  'authenticate-body-key',
  'team-shed',
] as const;

/** Parameters that were read for the key's sake. */
export type ReadSlot = Slot<ReadMembers>;

export function reserveReadSlot(host: PluginHost): ReadSlot {
  return host.reserveSlot<ReadMembers>('parameters');
}

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
          const key = credentialOf(keyInBeginning(x.head.headers, body), services);
          return key.kind === 'missing' ? NO_KEY_IN_BEGINNING : services.identify(x, key);
        }
        const read = readMembers(x.head.headers, body, services.bodyBytesMax);
        // A body that cannot be read may hold a key: "no key" would be misleading.
        if (read.kind === 'problem') return read;
        x.set(slot, read);
        const key = credentialOf(read.members.get('api_key'), services);
        return key.kind === 'missing' ? NO_KEY : services.identify(x, key);
      },
    },
  ];
}

/** `take` keeps what it makes of the parameters, or says what is wrong with them. */
export function readParameters(
  name: string,
  services: GatewayServices,
  slot: ReadSlot,
  take: (x: Exchange, members: Members) => Refusal | undefined,
): BodyStep {
  return {
    kind: 'body',
    name,
    headers: FORM_BODY_HEADERS,
    run(x) {
      const read = x.get(slot) ?? readMembers(x.head.headers, x.body, services.bodyBytesMax);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      const refusal = read.kind === 'members' ? take(x, read.members) : read;
      // Answered after the admission, so that a revoked key and the rate limit come first.
      if (refusal !== undefined) x.set(chargeSlot, x.get(chargeSlot) ?? refusedCharge(refusal));
      return undefined;
    },
  };
}

/** An empty key counts as none: clients without one send it so. */
function credentialOf(key: unknown, { credentials }: GatewayServices): Credential {
  if (key === undefined || key === null || key === '') return { kind: 'missing' };
  // As if it had come as a bearer token: one pattern for all keys.
  return typeof key === 'string' ? credentials.read({ authorization: `Bearer ${key}` }) : { kind: 'malformed' };
}
