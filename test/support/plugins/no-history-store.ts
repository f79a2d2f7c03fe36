// A plugin with a store that counts the current period but keeps no history, as stores written before there was one may.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { emptyData, referenceStore } from '../../../config/examples/reference-store.ts';

const data = emptyData();

export default definePlugin({
  name: 'no-history-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    stores: {
      bare: async (_url, { clock }) => {
        const { history: _history, ...store } = referenceStore(clock, data);
        return store;
      },
    },
  }),
});
