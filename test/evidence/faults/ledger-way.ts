// Which way the ledger's script goes in Redis: a whole run may be held to the same over another way than the operators'.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { LedgerWay } from '../../../src/stores/redis/scripts.ts';

export const LEDGER_WAYS: readonly LedgerWay[] = ['fast', 'general', 'tossed'];

/** Names it for gateways that are processes of their own. */
export const LEDGER_WAY_VARIABLE = 'LINGATE_LEDGER_WAY';

const PLUGIN = fileURLToPath(new URL('../../support/plugins/ledger-way.ts', import.meta.url));

/** A store in a gateway's configuration: as operators write it, or by a plugin that knows the other ways. */
export function storeConfig(url: string, timeoutMs: number): object {
  const way = process.env[LEDGER_WAY_VARIABLE] ?? '';
  if (way === '' || !url.startsWith('redis')) return { store: url, store_options: { command_timeout_ms: timeoutMs } };
  return { store: `way:${url}`, plugins: [{ module: PLUGIN, options: { way, command_timeout_ms: timeoutMs } }] };
}
