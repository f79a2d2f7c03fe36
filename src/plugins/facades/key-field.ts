// The step that finds a key where another API's clients put it: in their own header, or else in the query.
import type { GatewayServices, HeadStep, Refusal } from 'lingate';

export interface KeyField {
  /** Its name in lower case. */
  readonly field: string;
  /** The parameter of the query that is accepted if no header has a key; if absent, none is. */
  readonly parameter?: string | undefined;
  /** The answer if there is no key at all. */
  readonly noKey: Refusal;
}

/** `Authorization` and the headers accepted on every route take precedence over the API's own. */
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
      // As if it were a bearer token: one pattern for all keys.
      return key === undefined ? noKey : services.identify(x, credentials.read({ authorization: `Bearer ${key}` }));
    },
  };
}

/**
 * The raw value, because nothing in a key needs escaping. If it occurs more than once, all values are returned, which is not a valid
 * key, because it is unclear which one is meant. Found without parsing the query, because the sender is not known yet.
 */
export function keyInQuery(query: string, parameter: string): string | undefined {
  const start = `${parameter}=`;
  let found: string | undefined = undefined;
  for (let at = query.indexOf(start); at !== -1; at = query.indexOf(start, at + start.length)) {
    if (at > 0 && query[at - 1] !== '&') continue;
    const end = query.indexOf('&', at);
    const value = query.slice(at + start.length, end === -1 ? undefined : end);
    // An empty value counts as none: clients without a key send one.
    if (value !== '') found = found === undefined ? value : `${found}&${value}`;
  }
  return found;
}
