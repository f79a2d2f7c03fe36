// An engine protocol that makes two calls for an attempt: POST /token for a token, then POST /mine with it.
import Type from 'typebox';
import { definePlugin, parseJson, secret } from 'lingate';
import type { Attempt, EngineProtocol, EngineResponse } from 'lingate';

const Options = Type.Object({ api_key: secret('The key of the engine.') });

/** Exported for its test with `protocolContract` of `lingate/testing`. */
export const twoCalls: EngineProtocol<typeof Options> = {
  options: Options,
  can: { formality: false, context: false, glossaries: false, detection: false },
  async attempt({ requestId, text, options, traceparent }, wire, { api_key }) {
    // Each call has an id of its own, so that their answers cannot be mixed up.
    const headersOf = (id: string): Record<string, string> => ({
      'content-type': 'application/json',
      'x-request-id': id,
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    const headers = headersOf(requestId);
    const first = await wire.call({ method: 'POST', path: '/token', headers, body: JSON.stringify({ key: api_key }) });
    // A call that failed is a word, not a response: the attempt ends with it.
    if (typeof first === 'string') return { kind: 'unusable', failure: first };
    const token = memberOf(first, 'token');
    if (typeof token !== 'string') return { kind: 'unusable', failure: first.status === 200 ? 'wrong_shape' : 'status' };

    const body = JSON.stringify({ in: text, to: options.targetLang });
    const withToken = { ...headersOf(`${requestId}-${wire.attempt}-2`), authorization: `Bearer ${token}` };
    const second = await wire.call({ method: 'POST', path: '/mine', headers: withToken, body });
    if (typeof second === 'string') return { kind: 'unusable', failure: second };
    return judged(second, text.length);
  },
};

function judged(response: EngineResponse, texts: number): Attempt {
  if (response.status !== 200) return { kind: 'unusable', failure: 'status' };
  const out = memberOf(response, 'out');
  if (!Array.isArray(out) || out.length !== texts) return { kind: 'unusable', failure: 'wrong_shape' };
  const translations = out.filter((one: unknown): one is string => typeof one === 'string');
  if (translations.length !== texts) return { kind: 'unusable', failure: 'wrong_shape' };
  return { kind: 'usable', translations: translations.map((text) => ({ text, detectedSourceLanguage: undefined })) };
}

/** `undefined` if the body is not an object with this member. */
function memberOf({ body }: EngineResponse, name: string): unknown {
  const read = parseJson(body);
  if (typeof read === 'string' || typeof read.value !== 'object' || read.value === null) return undefined;
  return Object.entries(read.value).find(([key]) => key === name)?.[1];
}

export default definePlugin({
  name: 'two-calls',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ engines: { two_calls: twoCalls } }),
});
