// A plugin with a store of its own: the reference model, which keeps everything in the memory of its process.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { emptyBooks, referenceStore } from '../model/reference-store.ts';

const books = emptyBooks();

export default definePlugin({
  name: 'model-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ stores: { model: async (_url, { clock }) => referenceStore(clock, books) } }),
});
