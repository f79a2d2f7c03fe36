// The step that finds a key where another API's clients send it: in a field of their own, or else in the query.
import type { GatewayServices, HeadStep, Refusal } from 'lingate';

export interface KeyField {
  /** Its name in lower case. */
  readonly field: string;
  /** The parameter of the query that is taken where no field has a key; without it none is. */
  readonly parameter?: string | undefined;
  /** The answer where there is no key at all. */
  readonly noKey: Refusal;
}

/** `Authorization` and the fields that every route takes a key from count before the API's own. */
export function keyFieldStep(name: string, { field, parameter, noKey }: KeyField, services: GatewayServices): HeadStep {
  const { credentials } = services;
  return {
    kind: 'head',
    name,
    headers: [...credentials.headers, field],
    run(x) {
      const { headers, query } = x.head;
      const credential = credentials.read(headers);
      if (credential.kind !== 'missing') return services.identify(x, credential);
      const key = headers[field] ?? (parameter === undefined ? undefined : keyInQuery(query, parameter));
      // As if it had come as a bearer token: one pattern for all keys.
      return key === undefined ? noKey : services.identify(x, credentials.read({ authorization: `Bearer ${key}` }));
    },
  };
}

/**
 * The value as it stands there: nothing in a key has to be escaped. Of one that comes more than once all are given, which is no
 * key: which one is meant cannot be known. Looked for without taking the query apart, because nobody knows yet who sends it.
 */
export function keyInQuery(query: string, parameter: string): string | undefined {
  const start = `${parameter}=`;
  let found: string | undefined = undefined;
  for (let at = query.indexOf(start); at !== -1; at = query.indexOf(start, at + start.length)) {
    if (at > 0 && query[at - 1] !== '&') continue;
    const end = query.indexOf('&', at);
    const value = query.slice(at + start.length, end === -1 ? undefined : end);
    // An empty one counts as none: clients without a key send it so.
    if (value !== '') found = found === undefined ? value : `${found}&${value}`;
  }
  return found;
}
