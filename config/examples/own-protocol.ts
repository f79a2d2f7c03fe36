// An engine protocol: POST /mine with {"in": texts, "to": language} and a key, answered with {"out": texts}.
import Type from 'typebox';
import { definePlugin, parseJson, secret } from 'lingate';
import type { EngineProtocol, EngineResponse, EngineWork, JudgeResponse } from 'lingate';

const Options = Type.Object({ api_key: secret('The key of the engine.') });

/** Exported for its test with `protocolContract` of `lingate/testing`. */
export const mine: EngineProtocol<typeof Options> = {
  options: Options,
  can: { formality: false, context: false, glossaries: false, detection: false },
  attempt({ requestId, text, options, traceparent }, wire, { api_key }) {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${api_key}`,
      'x-request-id': requestId,
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    const body = JSON.stringify({ in: text, to: options.targetLang });
    return wire.send({ method: 'POST', path: '/mine', headers, body }, judge);
  },
};

/** Judges the content, because an engine that answers 200 to everything must not charge anyone. */
const judge: JudgeResponse = ({ status, body }: EngineResponse, { text }: EngineWork) => {
  if (status !== 200) return { kind: 'unusable', failure: 'status' };
  const read = parseJson(body);
  if (typeof read === 'string') return { kind: 'unusable', failure: read };
  const answer = read.value;
  const out: unknown = typeof answer === 'object' && answer !== null && 'out' in answer ? answer.out : undefined;
  if (!Array.isArray(out) || out.length !== text.length) return { kind: 'unusable', failure: 'wrong_shape' };
  const translations = out.filter((one: unknown): one is string => typeof one === 'string');
  if (translations.length !== out.length) return { kind: 'unusable', failure: 'wrong_shape' };
  return { kind: 'usable', translations: translations.map((one) => ({ text: one, detectedSourceLanguage: undefined })) };
};

export default definePlugin({
  name: 'own-protocol',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ engines: { mine } }),
});
