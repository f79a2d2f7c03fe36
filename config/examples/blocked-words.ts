// Refuses texts with a word that must not leave the house, before any engine sees them, with a problem code of its own.
import Type from 'typebox';
import { definePlugin } from 'lingate';

export default definePlugin({
  name: 'blocked-words',
  options: Type.Object({ words: Type.Array(Type.String({ minLength: 1 })) }, { additionalProperties: false }),
  problems: { blocked_word: { status: 422, title: 'A word that may not be translated', retry: false } },
  setup: ({ words }, host) => ({
    texts({ text }) {
      const index = text.findIndex((one) => words.some((word) => one.includes(word)));
      // Without the word: what a caller sent is in no answer and no log.
      return index < 0 ? undefined : host.refuse('blocked_word', `text.${index}: has a word that may not be sent to a translation engine.`);
    },
  }),
});
