// A plugin with its own engine protocol: it needs a key, and describes what its engine can do.
import Type from 'typebox';
import { definePlugin, secret } from 'lingate';
import type { EngineProtocol } from 'lingate';

const Options = Type.Object({ api_key: secret('The key.'), shout: Type.Boolean({ default: false }) });

const shouting: EngineProtocol<typeof Options> = {
  options: Options,
  can: { formality: false, glossaries: false, sharedCalls: false },
  attempt({ text }, _wire, { api_key, shout }) {
    if (api_key !== 'the-right-key') return Promise.resolve({ kind: 'unusable', failure: 'status' });
    const translations = text.map((entry) => ({ text: shout ? entry.toUpperCase() : entry, detectedSourceLanguage: undefined }));
    return Promise.resolve({ kind: 'usable', translations });
  },
};

export default definePlugin({
  name: 'own-engine',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ engines: { shouting } }),
});
