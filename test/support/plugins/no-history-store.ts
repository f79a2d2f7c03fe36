// A plugin with a store that keeps counts of the running period and no history, as those may that were written before there was one.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { emptyBooks, referenceStore } from '../../../config/examples/reference-store.ts';

const books = emptyBooks();

export default definePlugin({
  name: 'no-history-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    stores: {
      bare: async (_url, { clock }) => {
        const { keys, ledger, teams, glossaries, ping, close } = referenceStore(clock, books);
        return { keys, ledger, teams, glossaries, ping, close };
      },
    },
  }),
});
