// A plugin that opens our own Redis store with its ledger's script going the way that a test names: `way:redis://…`.
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';

export default definePlugin({
  name: 'ledger-way',
  options: Type.Object(
    { way: Type.Enum(['fast', 'general', 'tossed']), command_timeout_ms: Type.Integer({ minimum: 1 }) },
    { additionalProperties: false },
  ),
  setup: ({ way, command_timeout_ms: commandTimeoutMs }) => ({
    stores: { way: (url, { log }) => openRedisStore({ url: url.slice('way:'.length), log, commandTimeoutMs, ledgerWay: way }) },
  }),
});
