// lingate store backup: copies the SQLite file, while gateways use it.
import { NoStoreError } from '../../domain/store-unavailable.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';
import { missingStore } from '../with-store.ts';

export const storeBackup: Command = {
  name: 'store backup',
  summary: 'Copies the SQLite store to a file, while gateways use it.',
  usage: 'FILE',
  about:
    'The copy has the store as it was at one moment, and is on disk when the command ends. FILE must not exist. Callers do ' +
    'not wait for it. For a Redis store, use the backups of Redis itself.',
  operands: ['FILE'],
  flags: {},
  examples: [
    'lingate store backup /backups/lingate-2026-11-22.db',
    'lingate store backup /backups/lingate.db --store sqlite:data/lingate.db',
  ],
  async run(context) {
    const config = await context.config();
    const { backUpStore } = await import('../../app/store-upkeep.ts');
    const { file, bytes } = await backUpStore(config.store, context.operands[0]!).catch((error: unknown) => {
      throw error instanceof NoStoreError ? new CommandFailure(missingStore(error, config)) : error;
    });
    context.print({ file, bytes }, () => `Wrote ${file}, ${bytes} bytes.`);
  },
};
