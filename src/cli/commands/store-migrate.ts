// lingate store migrate: migrates the data of an older version, after copying it.
import type { StoreMigration } from '../../ports/store.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { Command } from '../command.ts';
import { withStore } from '../with-store.ts';

export const storeMigrate: Command = {
  name: 'store migrate',
  migratesStore: true,
  summary: 'Migrates a store of an older version to this one.',
  usage: '',
  about:
    'A SQLite file is first copied to FILE.before-N beside it; N is the new schema number. "lingate serve" does the same ' +
    'when it starts. Run twice, it does nothing the second time.',
  flags: {},
  examples: ['lingate store migrate', 'lingate store migrate --store sqlite:data/lingate.db --json'],
  async run(context) {
    let done: StoreMigration | undefined;
    const onMigrated = (_place: string, migration: StoreMigration): void => void (done = migration);
    await withStore(
      context,
      async (_store, { store }) => {
        const shown = withoutCredentials(store);
        context.print({ store: shown, migrated: done !== undefined, ...done }, () => textOf(shown, done));
      },
      onMigrated,
    );
  },
};

function textOf(store: string, done: StoreMigration | undefined): string {
  if (done === undefined) return `${store} is of this version already.`;
  return `Migrated ${store} from schema ${done.from} to ${done.to}. A copy of the old file is at ${done.copy}.`;
}
