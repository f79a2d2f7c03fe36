// Masks e-mail addresses so that none reaches the engine, and restores them in the translations.
import Type from 'typebox';
import { definePlugin, refuse } from 'lingate';

const ADDRESS = /[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/g;
/** Replaces an address: an address itself, so that engines leave it unchanged, and one that nobody can have (RFC 2606). */
const MASKED = /\b(\d+)@masked\.invalid\b/g;

const LOST = refuse('engine_unavailable', 'No usable translation was available; nothing was charged. Try again in a few seconds.');

export default definePlugin({
  name: 'mask-email',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    texts({ text }) {
      const addresses = text.map((one) => one.match(ADDRESS) ?? []);
      if (addresses.every((found) => found.length === 0)) return undefined;
      return {
        text: text.map((one) => {
          let next = 0;
          return one.replace(ADDRESS, () => `${next++}@masked.invalid`);
        }),
        after(translations) {
          // If the engine dropped, doubled or changed an address, the translation is unusable.
          const complete = translations.every((one, i) => {
            const numbers = [...one.text.matchAll(MASKED)].map((match) => Number(match[1])).toSorted((a, b) => a - b);
            return numbers.length === addresses[i]!.length && numbers.every((number, place) => number === place);
          });
          if (!complete) return LOST;
          return translations.map((one, i) => ({
            ...one,
            text: one.text.replace(MASKED, (_all, number) => addresses[i]![Number(number)]!),
          }));
        },
      };
    },
  }),
});
