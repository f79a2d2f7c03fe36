// A plugin with an engine protocol whose adapter throws when its engine answers with status 418.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import type { EngineProtocol, Translation } from 'lingate';

const TEAPOT = 418;

const throwing: EngineProtocol = {
  async attempt({ text, options }, wire) {
    const body = JSON.stringify({ text, target_lang: options.targetLang });
    const answer = await wire.call({ method: 'POST', path: '/translate', headers: { 'content-type': 'application/json' }, body });
    if (typeof answer === 'string') return { kind: 'unusable', failure: answer };
    if (answer.status === TEAPOT) throw new Error(`a bug of the adapter: ${new TextDecoder().decode(answer.body)}`);
    const { translations } = JSON.parse(new TextDecoder().decode(answer.body)) as { translations: Translation[] };
    return { kind: 'usable', translations };
  },
};

export default definePlugin({
  name: 'throwing-engine',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ engines: { throwing } }),
});
