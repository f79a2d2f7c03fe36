// A plugin that opens the reference store as `memory:…`: all of its URLs name one store.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { ReferenceData, referenceStore } from '../reference-store.ts';

const data = new ReferenceData();

export default definePlugin({
  name: 'reference-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ stores: { memory: async (_url, { clock, historyDays }) => referenceStore(clock, data, historyDays) } }),
});
