// The step that finds a key in the field in which another API's clients send it.
import type { GatewayServices, HeadStep, Refusal } from 'lingate';

/**
 * `Authorization` and the fields that every route takes a key from count before `field`, whose name is in lower case. `noKey` is
 * the answer where none of them is there.
 */
export function keyFieldStep(name: string, field: string, noKey: Refusal, services: GatewayServices): HeadStep {
  const { credentials } = services;
  return {
    kind: 'head',
    name,
    headers: [...credentials.headers, field],
    run(x) {
      const { headers } = x.head;
      const credential = credentials.read(headers);
      if (credential.kind !== 'missing') return services.identify(x, credential);
      const key = headers[field];
      // As if it had come as a bearer token: one pattern for all keys.
      return key === undefined ? noKey : services.identify(x, credentials.read({ authorization: `Bearer ${key}` }));
    },
  };
}
