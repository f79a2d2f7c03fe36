// lingate store migrate: brings the data of an older version up to this one, after a copy of it.
import type { StoreMigration } from '../../ports/store.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { Command } from '../command.ts';
import { withStore } from '../with-store.ts';

export const storeMigrate: Command = {
  name: 'store migrate',
  migratesStore: true,
  summary: 'Brings a store that an older version has written up to this one.',
  usage: '',
  about:
    'A SQLite file is copied first: FILE.before-N lies beside it, N being the schema that it gets. "lingate serve" does the same ' +
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
  return `Migrated ${store} from schema ${done.from} to ${done.to}. It lies at ${done.copy} as it was before.`;
}
