// lingate store backup, check, copy and migrate: what is done with a store as a whole, in part while gateways use it.
import { minorRoundedDown } from '../../domain/money.ts';
import { NoStoreError } from '../../domain/store-unavailable.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { StoreFinding } from '../../ports/whole-accounts.ts';
import type { StoreMigration } from '../../ports/store.ts';
import type { CopyProgress } from '../../app/store-upkeep.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirm, requireConfirmable } from '../confirmation.ts';
import { ACCEPT_CLOCK, whereNoStore, withStore } from '../with-store.ts';
import { acceptClock } from './accept-clock.ts';

export const storeBackup: Command = {
  usage: 'FILE',
  about:
    'The copy has the store as it was at one moment, and is on disk when the command ends. FILE must not exist. Callers do ' +
    'not wait for it. For a Redis store, use the backups of Redis itself.',
  operands: ['FILE'],
  examples: [
    'lingate store backup /backups/lingate-2026-11-22.db',
    'lingate store backup /backups/lingate.db --store sqlite:data/lingate.db',
  ],
  async run(context) {
    const config = await context.config();
    const { backUpStore } = await import('../../app/store-upkeep.ts');
    const { file, bytes } = await backUpStore(config.store, context.operands[0]!).catch(whereNoStore(config));
    context.print({ file, bytes }, () => `Wrote ${file}, ${bytes} bytes.`);
  },
};

/** Any more are only counted. */
const PRINTED_MAX = 1000;
const TELL_EVERY_TEAMS = 1000;

export const storeCheck: Command = {
  usage: '[--repair [--yes] | --accept-clock]',
  about:
    'It only reads, and can run while gateways use the store: a fault is reported if it is there at three looks. The exit status is 1 if ' +
    'there is a fault; each fault is one line with its team and key. With --repair it first mends what is wrong with documents: it ' +
    'says what it would do, and asks.',
  flags: {
    repair: { kind: 'switch', summary: 'mend what is wrong with documents before the check' },
    yes: { kind: 'switch', summary: 'with --repair: do not ask' },
    [ACCEPT_CLOCK]: {
      kind: 'switch',
      summary: 'only make all gateways believe the clock as it is now, within two seconds, although it has stepped',
    },
  },
  examples: [
    'lingate store check',
    'lingate store check --store redis://127.0.0.1:6379 --json',
    'lingate store check --repair',
    'lingate store check --repair --yes --json',
    'lingate store check --accept-clock',
  ],
  async run(context) {
    if (context.on('yes') && !context.on('repair')) throw new UsageError('--yes is only used with --repair');
    if (context.on('repair') && context.on(ACCEPT_CLOCK))
      throw new UsageError('--repair and --accept-clock are two commands; give one of them');
    if (context.on(ACCEPT_CLOCK)) return acceptClock(context);
    const config = await context.config();
    const repaired = context.on('repair') ? await repairedDocuments(context) : undefined;
    const { checkStoreAt } = await import('../../app/store-upkeep.ts');
    const shown = withoutCredentials(config.store);
    const findings: StoreFinding[] = [];
    let found = 0;
    const report = (finding: StoreFinding): void => {
      if (found++ < PRINTED_MAX) findings.push(finding);
    };
    const onTeam = (teams: number): void => {
      if (context.io.watched && teams % TELL_EVERY_TEAMS === 0) context.io.err(`\r${teams} teams`);
    };
    const counts = await checkStoreAt(config, report, onTeam).catch(whereNoStore(config));
    if (context.io.watched && counts.teams >= TELL_EVERY_TEAMS) context.io.err('\r');
    const { teams, keys, glossaries, documents, documentBytes } = counts;
    const repairs = repaired === undefined ? {} : { repaired_documents: repaired };
    const all = { teams, keys, glossaries, documents, document_bytes: documentBytes };
    const ofDocuments = config.documents === undefined ? '' : `, ${counted(documents, 'document')} with ${documentBytes} bytes`;
    context.print({ store: shown, ok: found === 0, ...all, faults: found, findings: findings.map(reportOf), ...repairs }, () =>
      [
        ...(repaired ?? []).map((line) => `repaired: ${line}`),
        ...findings.map(lineOf),
        `Checked ${counted(teams, 'team')}, ${counted(keys, 'key')} and ${glossaries} ${glossaries === 1 ? 'glossary' : 'glossaries'}${ofDocuments}: ${found === 0 ? 'nothing is wrong' : faultsText(found)}.`,
      ].join('\n'),
    );
    if (found > 0)
      throw new CommandFailure(`${shown} has ${faultsText(found)}; keep a copy of it as it is, and see config/manual/keeping-data.md`);
  },
};

/** A line for each thing that was mended. Throws a `UsageError` before anything is read if nobody can be asked. */
async function repairedDocuments(context: CommandContext): Promise<readonly string[]> {
  requireConfirmable(context, '--repair');
  const { repairDocuments } = await import('../../app/store-upkeep.ts');
  let repaired: readonly string[] = [];
  await withStore(context, async (store, config, nowMs) => {
    repaired = await repairDocuments(config, store, nowMs, async (lines) => {
      await confirm(context, { does: `What would be mended:\n${lines.join('\n')}\n`, word: 'repair', wordIs: 'repair' });
      return true;
    });
  });
  return repaired;
}

function faultsText(count: number): string {
  return counted(count, 'fault');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function reportOf({ what, teamId, keyId, detail }: StoreFinding): Record<string, string | null> {
  return { what, team_id: teamId ?? null, key_id: keyId ?? null, detail };
}

function lineOf({ what, teamId, keyId, detail }: StoreFinding): string {
  const where = [teamId === undefined ? '' : `team ${teamId}`, keyId === undefined ? '' : `key ${keyId}`].filter((part) => part !== '');
  return `${what}: ${where.length === 0 ? '' : `${where.join(', ')}: `}${detail}`;
}

const TELL_EVERY_MS = 5000;

export const storeCopy: Command = {
  usage: '--from URL --to URL [--restart]',
  about:
    'From SQLite to Redis, from Redis to SQLite, between two of a kind, and from or to the store of a plugin that the configuration ' +
    'names. No gateway may use either store. Until the copy is complete and compared, the target is marked as incomplete, and nothing ' +
    'uses it. The source is only read.',
  flags: {
    from: { kind: 'text', value: 'URL', summary: 'the store to copy', required: true },
    to: { kind: 'text', value: 'URL', summary: 'the store to copy to, which must be empty', required: true },
    restart: { kind: 'switch', summary: 'clear the target if an earlier copy to it was not completed' },
  },
  examples: [
    'lingate store copy --from sqlite:data/lingate.db --to redis://127.0.0.1:6379',
    'lingate store copy --from redis://127.0.0.1:6379 --to sqlite:data/lingate.db --restart',
    'lingate store copy --from sqlite:data/lingate.db --to postgres://lingate@127.0.0.1/lingate --config lingate.yaml',
  ],
  async run(context) {
    const [from, to] = [context.required('from'), context.required('to')];
    const { io } = context;
    const { copyStoreTo, withWholeStores } = await import('../../app/store-upkeep.ts');
    const startedAtMs = performance.now();
    let toldAtMs = startedAtMs;
    let told = false;
    const tell = (doing: string, teams: number): void => {
      toldAtMs = performance.now();
      told = true;
      io.err(io.watched ? `\r${doing}: ${teams} teams` : `lingate store copy: ${doing}: ${teams} teams\n`);
    };
    const onProgress = ({ doing, teams }: CopyProgress): void => {
      if (performance.now() - toldAtMs >= TELL_EVERY_MS || (io.watched && teams % TELL_EVERY_TEAMS === 0)) tell(doing, teams);
    };
    const request = { from, to, restart: context.on('restart'), onProgress };
    const copying = withWholeStores(
      [from, to],
      () => context.config(),
      (others) => copyStoreTo({ ...request, others }),
    );
    const tally = await copying.catch((error: unknown) => {
      if (io.watched && told) io.err('\n');
      throw error instanceof NoStoreError
        ? new CommandFailure(`there is nothing to copy at ${error.place}; name the right store by --from`)
        : error;
    });
    tell('compared', tally.teams);
    if (io.watched) io.err('\n');
    const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;
    const { teams, keys, glossaries, periods, days, characters, balanceMicro, glossaryBytes, openReservations } = tally;
    const shown = { from: withoutCredentials(from), to: withoutCredentials(to) };
    const sums = {
      characters,
      balance_minor: minorRoundedDown(balanceMicro),
      glossary_bytes: glossaryBytes,
      open_reservations: openReservations,
    };
    context.print({ ...shown, teams, keys, glossaries, periods, days, ...sums, seconds }, () =>
      [
        `Copied ${shown.from} to ${shown.to} in ${seconds} s. Both hold the same:`,
        `${teams} teams, ${keys} keys, ${glossaries} glossaries, ${periods} past periods, ${characters} characters in all periods,`,
        `${sums.balance_minor} minor units of credit, ${openReservations} open reservations.`,
      ].join('\n'),
    );
  },
};

export const storeMigrate: Command = {
  migratesStore: true,
  about:
    'A SQLite file is first copied to FILE.before-N beside it; N is the new schema number. "lingate serve" does the same ' +
    'when it starts. Run twice, it does nothing the second time.',
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
