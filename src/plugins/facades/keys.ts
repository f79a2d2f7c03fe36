// Finds a caller's key where other vendors' clients send it: a header, the query, or the body.
import { FORM_BODY_HEADERS } from 'lingate';
import type { BodyStep, Credential, DocumentServices, Exchange, GatewayServices, HeadStep, Refusal, Slot, TooManyValues } from 'lingate';
import { readMembers } from './members.ts';
import type { Members } from './members.ts';
import { isRefusal } from './parameters.ts';
import type { Judged } from './parameters.ts';

/** Where clients may send a key, besides the headers of every route, which come first. */
interface KeySources {
  /** The names of the steps begin with it. */
  readonly api: string;
  /** A header with the key alone, in lower case. */
  readonly field?: string;
  /** Of the query; if absent, a key there is ignored. Comes before the body. */
  readonly parameter?: string | undefined;
  /** Of the body; if absent, a key there is ignored. Routes need `bodyKeySteps` for it. */
  readonly member?: string | undefined;
  /** The answer if there is no key at all. */
  readonly noKey: Refusal;
}

/** Where an operator accepts a key, besides headers. */
export interface KeyOptions {
  readonly inQuery: boolean;
  readonly inBody: boolean;
}

/** Members of a body that were parsed to find the key. */
export type ReadSlot = Slot<Judged<Members> | undefined>;

/** How a body is read if the key is looked for in it. */
interface BodyKeyRules {
  readonly slot: ReadSlot;
  /** As for `readJsonBody`. */
  readonly tooMany: TooManyValues;
}

/** Identifies callers by their headers and the query. */
export function keyStep(sources: KeySources, services: GatewayServices): HeadStep {
  const { api, field, member, noKey } = sources;
  return {
    kind: 'head',
    name: `${api}-key`,
    headers: field === undefined ? services.credentials.headers : [...services.credentials.headers, field],
    run(x) {
      const credential = outsideBody(x, sources, services);
      if (credential !== undefined) return services.identify(x, credential);
      const takesBody = x.route.takesBody || x.route.streamsBody === true;
      return member === undefined || !takesBody ? noKey : undefined;
    },
  };
}

/** Their order in a route: after `authenticate`, and before `team-shed`. */
export function bodyKeySteps(api: string): readonly string[] {
  return [`${api}-key-in-body`, 'authenticate-body-key'];
}

/** By a key in the body. The members stay in the slot for the step that reads parameters. */
export function bodyKeyStep(
  sources: KeySources & { readonly member: string },
  { slot, tooMany }: BodyKeyRules,
  services: GatewayServices,
): BodyStep {
  const { api, member, noKey } = sources;
  return {
    kind: 'body',
    name: `${api}-key-in-body`,
    headers: FORM_BODY_HEADERS,
    run(x) {
      if (outsideBody(x, sources, services) !== undefined) return undefined;
      const read = readMembers(x.head.headers, x.body, services.bodyBytesMax, tooMany);
      // A body that cannot be parsed may contain a key: "no key" would be misleading.
      if (isRefusal(read)) return read;
      x.set(slot, read);
      const key = credentialOf(read.get(member), services);
      return key.kind === 'missing' ? noKey : services.identify(x, key);
    },
  };
}

/** The same for uploads: their form is collected for it, up to the limit of other bodies. */
export function uploadKeyStep(
  { member, ...sources }: KeySources & { readonly member: string },
  documents: DocumentServices,
  services: GatewayServices,
): BodyStep {
  return {
    kind: 'body',
    name: `${sources.api}-key-in-upload`,
    headers: FORM_BODY_HEADERS,
    async run(x) {
      if (outsideBody(x, sources, services) !== undefined) return undefined;
      const upload = await documents.collect(x, services.bodyBytesMax);
      if ('problem' in upload) return upload;
      const key = credentialOf(upload.fields[member], services);
      return key.kind === 'missing' ? sources.noKey : services.identify(x, key);
    },
  };
}

/** The members of the body, which the search for a key may already have parsed. */
export function membersOnce(x: Exchange, { slot, tooMany }: BodyKeyRules, bodyBytesMax: number): Judged<Members> {
  const known = x.get(slot);
  if (known === undefined) return readMembers(x.head.headers, x.body, bodyBytesMax, tooMany);
  // A slow engine must not keep it in memory.
  x.set(slot, undefined);
  return known;
}

/** `undefined` if there is no key outside of the body. */
function outsideBody({ head }: Exchange, { field, parameter }: KeySources, { credentials }: GatewayServices): Credential | undefined {
  const credential = credentials.read(head.headers);
  if (credential.kind !== 'missing') return credential;
  const inField = field === undefined ? undefined : head.headers[field];
  const key = inField ?? (parameter === undefined ? undefined : keyInQuery(head.query, parameter));
  // As if it were a bearer token: one pattern for all keys.
  return key === undefined ? undefined : credentials.read({ authorization: `Bearer ${key}` });
}

/**
 * Raw, because nothing in a key needs escaping; an empty one counts as none. Several values are no
 * valid key, because it is unclear which one to use.
 */
function keyInQuery(query: string, parameter: string): string | undefined {
  const start = `${parameter}=`;
  const values = query.split('&').flatMap((pair) => (pair.startsWith(start) && pair !== start ? pair.slice(start.length) : []));
  return values.length === 0 ? undefined : values.join('&');
}

/** An empty key counts as none: clients without one send it. */
function credentialOf(key: unknown, { credentials }: GatewayServices): Credential {
  if (key === undefined || key === null || key === '') return { kind: 'missing' };
  return typeof key === 'string' ? credentials.read({ authorization: `Bearer ${key}` }) : { kind: 'malformed' };
}
