// lingate store backup, check, copy, migrate and show: what is done with a store as a whole.
import { auditAcceptedClock } from '../../admin/audit-entries.ts';
import { noSuch } from '../../admin/operation.ts';
import { stepText } from '../../domain/clock-judge.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { answered, NoStoreError } from '../../domain/store-unavailable.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import { keySubject, tagSubject } from '../../domain/window-limits.ts';
import type { StoreFinding, WholeAccount } from '../../ports/whole-accounts.ts';
import type { CopyProgress, Repairs } from '../../app/store-upkeep.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirm, readId, requireConfirmable } from '../asked.ts';
import { ACCEPT_CLOCK, commandOn, whereNoStore, withStore } from '../with-store.ts';

const storeBackup: Command = {
  name: 'store backup',
  summary: 'Copies the SQLite store to a file, while gateways use it.',
  about:
    'The copy shows the store at one moment, and is on disk when the command ends. FILE must not exist. Callers do not notice it. ' +
    "For a Redis store, use Redis's own backups.",
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

const storeCheck: Command = {
  name: 'store check',
  summary: 'Checks the store for inconsistent records.',
  usage: '[--repair [--yes] | --accept-clock]',
  about:
    'It only reads, and can run while gateways use the store: it reports a fault that it finds three times in a row. Each fault is one ' +
    'line with its team and key; the exit status is then 1. With --repair it first repairs documents and their files, sums and indexes: ' +
    'it says what it will do, and asks.',
  flags: {
    repair: { summary: 'repair documents, sums and indexes before the check' },
    yes: { summary: 'with --repair: do not ask' },
    [ACCEPT_CLOCK]: {
      summary: 'only accept the clock as it is now, although it has stepped; all gateways follow within two seconds',
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
    const { io } = context;
    const config = await context.config();
    const repaired = context.on('repair') ? await repairedStore(context) : undefined;
    const { checkStoreAt } = await import('../../app/store-upkeep.ts');
    const shown = withoutCredentials(config.store);
    const findings: StoreFinding[] = [];
    let found = 0;
    const report = (finding: StoreFinding): void => {
      if (found++ < PRINTED_MAX) findings.push(finding);
    };
    const onTeam = (count: number): void => {
      if (io.watched && count % TELL_EVERY_TEAMS === 0) io.err(`\r${count} teams`);
    };
    const { documentBytes, ...counts } = await checkStoreAt(config, report, onTeam).catch(whereNoStore(config));
    if (io.watched && counts.teams >= TELL_EVERY_TEAMS) io.err('\r');
    const { teams, keys, glossaries, documents } = counts;
    const faults = counted(found, 'fault');
    const listed = findings.map(({ what, teamId, keyId, detail }) => ({ what, team_id: teamId ?? null, key_id: keyId ?? null, detail }));
    const all = { teams, keys, glossaries, documents, document_bytes: documentBytes, faults: found, findings: listed };
    context.print(
      {
        store: shown,
        ok: found === 0,
        ...all,
        ...(repaired && { repaired_documents: repaired.documents, repaired_teams: repaired.teams }),
      },
      () => {
        const ofDocuments = config.documents === undefined ? '' : `, ${counted(documents, 'document')} with ${documentBytes} bytes`;
        const of = `${counted(teams, 'team')}, ${counted(keys, 'key')} and ${glossaries} ${glossaries === 1 ? 'glossary' : 'glossaries'}`;
        return [
          ...(repaired === undefined ? [] : [...repaired.documents, ...repaired.teams]).map((line) => `repaired: ${line}`),
          ...findings.map(lineOf),
          `Checked ${of}${ofDocuments}: ${found === 0 ? 'nothing is wrong' : faults}.`,
        ].join('\n');
      },
    );
    if (found > 0) throw new CommandFailure(`${shown} has ${faults}; keep a copy of it as it is, and see config/manual/keeping-data.md`);
  },
};

/** A line for each mended thing. Throws a `UsageError` before that if nobody can be asked. */
async function repairedStore(context: CommandContext): Promise<Repairs> {
  requireConfirmable(context, '--repair');
  const { repairStore } = await import('../../app/store-upkeep.ts');
  return withStore(context, (store, config, nowMs) =>
    repairStore(config, store, nowMs, (lines) =>
      confirm(context, { does: `This would be repaired:\n${lines.join('\n')}\n`, word: 'repair', wordIs: 'repair' }),
    ),
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function lineOf({ what, teamId, keyId, detail }: StoreFinding): string {
  const where = [...(teamId === undefined ? [] : [`team ${teamId}`]), ...(keyId === undefined ? [] : [`key ${keyId}`])];
  return [what, ...(where.length === 0 ? [] : [where.join(', ')]), detail].join(': ');
}

/** Makes every process of a store believe the clock as it is now, although it seems wrong. */
async function acceptClock(context: CommandContext): Promise<void> {
  await withStore(context, async (store, config, nowMs) => {
    const answer = answered(await store.clock.accept());
    if (answer.kind !== 'accepted') {
      const times = answer.servers.map((one) => `${one.server} ${new Date(one.nowMs).toISOString()}`).join(', ');
      throw new CommandFailure(
        `the clocks of the servers disagree by more than an hour, so that none is accepted: ${times}; set the wrong ones`,
      );
    }
    const { steppedMs } = answer;
    await auditAcceptedClock(commandOn(store, config, nowMs), answer.nowMs);
    const clock = new Date(answer.nowMs).toISOString();
    context.print({ store: withoutCredentials(config.store), clock, stepped_seconds: Math.round(steppedMs / 1000) }, () => {
      const step = steppedMs === 0 ? '' : `, which is ${stepText(steppedMs)} the latest time of the store`;
      return `The clock is accepted: ${clock}${step}. All gateways of the store use it within two seconds.`;
    });
  });
}

const TELL_EVERY_MS = 5000;

const storeCopy: Command = {
  name: 'store copy',
  summary: 'Copies a store to an empty store of any kind, and compares both.',
  about:
    'Each may be SQLite, Redis, or the store of a plugin that the configuration names. No gateway may use either store meanwhile. ' +
    'Until the copy is complete and compared, the target is marked as incomplete, and nothing uses it. The source is only read.',
  flags: {
    from: { value: 'URL', summary: 'the store to copy', required: true },
    to: { value: 'URL', summary: 'the store to copy to, which must be empty', required: true },
    restart: { summary: 'clear the target if an earlier copy to it was not completed' },
  },
  examples: [
    'lingate store copy --from sqlite:data/lingate.db --to redis://127.0.0.1:6379',
    'lingate store copy --from redis://127.0.0.1:6379 --to sqlite:data/lingate.db --restart',
    'lingate store copy --from sqlite:data/lingate.db --to postgres://lingate@127.0.0.1/lingate --config lingate.yaml',
  ],
  async run(context) {
    const [from, to] = [context.text('from')!, context.text('to')!];
    const { io } = context;
    const { copyStoreTo, withWholeStores } = await import('../../app/store-upkeep.ts');
    const startedAtMs = performance.now();
    let shownAtMs = startedAtMs;
    const tell = (doing: string, teams: number): void => {
      shownAtMs = performance.now();
      io.err(io.watched ? `\r${doing}: ${teams} teams` : `lingate store copy: ${doing}: ${teams} teams\n`);
    };
    const onProgress = ({ doing, teams }: CopyProgress): void => {
      if (performance.now() - shownAtMs >= TELL_EVERY_MS || (io.watched && teams % TELL_EVERY_TEAMS === 0)) tell(doing, teams);
    };
    const request = { from, to, restart: context.on('restart'), onProgress };
    const copying = withWholeStores(
      [from, to],
      () => context.config(),
      (others) => copyStoreTo({ ...request, others }),
    );
    const tally = await copying.catch((error: unknown) => {
      if (io.watched && shownAtMs > startedAtMs) io.err('\n');
      throw error instanceof NoStoreError
        ? new CommandFailure(`there is nothing to copy at ${error.place}; give the right store with --from`)
        : error;
    });
    tell('compared', tally.teams);
    if (io.watched) io.err('\n');
    const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;
    const { teams, keys, glossaries, periods, days, characters, balanceMicro, glossaryBytes, openReservations } = tally;
    const shown = { from: withoutCredentials(from), to: withoutCredentials(to) };
    const balance = minorRoundedDown(balanceMicro);
    const sums = { characters, balance_minor: balance, glossary_bytes: glossaryBytes, open_reservations: openReservations };
    context.print({ ...shown, teams, keys, glossaries, periods, days, ...sums, seconds }, () =>
      [
        `Copied ${shown.from} to ${shown.to} in ${seconds} s. Both hold the same:`,
        `${teams} teams, ${keys} keys, ${glossaries} glossaries, ${periods} past periods, ${characters} characters in all periods,`,
        `${balance} minor units of credit, ${openReservations} open reservations.`,
      ].join('\n'),
    );
  },
};

const storeMigrate: Command = {
  name: 'store migrate',
  summary: 'Migrates a store of an older version to this one.',
  about: 'This version migrates none: it refuses data of another version, and says which version that is.',
  examples: ['lingate store migrate', 'lingate store migrate --store sqlite:data/lingate.db --json'],
  async run(context) {
    await withStore(context, async (_store, { store }) => {
      const shown = withoutCredentials(store);
      context.print({ store: shown, migrated: false }, () => `${shown} is of this version already.`);
    });
  },
};

const storeShow: Command = {
  name: 'store show',
  summary: 'Shows everything that the store has about a team.',
  about:
    'Each line is a name and JSON: records, counters by subject and window, open reservations, and how many slots of each rate are ' +
    'taken. It only reads, and needs no gateway. It leaves out digests of keys and entries of glossaries, but shows names of files and ' +
    'addresses of documents.',
  operands: ['TEAM'],
  examples: ['lingate store show 01JD8ZQ4T7X3V9K2M5N6P8R0SA', 'lingate store show 01JD8ZQ4T7X3V9K2M5N6P8R0SA --json'],
  async run(context) {
    const teamId = readId('team', context.operands[0]!);
    const config = await context.config();
    const { accountAt } = await import('../../app/store-upkeep.ts');
    const account = await accountAt(config, teamId, ({ keyId, detail }) =>
      context.io.err(`lingate store show: ${keyId === undefined ? '' : `key ${keyId}: `}${detail}; run "lingate store check"\n`),
    ).catch(whereNoStore(config));
    if (account === undefined) throw new CommandFailure(noSuch('team', teamId).named);
    const shown = shownAccount(account);
    context.print(Object.fromEntries(shown), () =>
      shown.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n'),
    );
  },
};

/** By names like those of the fields in Redis. */
function shownAccount(account: WholeAccount): [name: string, value: unknown][] {
  const { team, period, ended, charges, standing, window, windowCounts, keys, requests, changes, records } = account;
  const taken = (slots: WholeAccount['window']): number => slots.reduce((sum, { count }) => sum + count, 0);
  return [
    ['team', team],
    ...(period === undefined ? [] : ([['period', period]] as [string, unknown][])),
    ['count:team', standing],
    ['slots:team', taken(window)],
    ...keys.flatMap(({ digest: _digest, window: slots, characters, requests: charged, heldCharacters, ...key }): [string, unknown][] => [
      [keySubject(key.keyId), key],
      [`count:${keySubject(key.keyId)}`, { characters, requests: charged, heldCharacters }],
      [`slots:${keySubject(key.keyId)}`, taken(slots)],
    ]),
    ...windowCounts.map(({ subject, counts }): [string, unknown] => [`count:${subject}:windows`, counts]),
    ...requests.map(({ requestId, ...held }): [string, unknown] => [`open:${requestId}`, held]),
    ...ended.map(({ number, ...one }): [string, unknown] => [`period:${number}`, one]),
    ...charges.map(({ keyId, day, period: of, ...use }): [string, unknown] => [`day:${day}:period:${of}:${keySubject(keyId)}`, use]),
    ...changes.map(({ id, ...change }): [string, unknown] => [`once:${id}`, change]),
    ...records.map(({ table, id, value }): [string, unknown] =>
      table === 'tag_limits' ? [tagSubject(id), JSON.parse(value)] : [`${table}:${id}`, value],
    ),
  ];
}

export const commands = [storeBackup, storeCheck, storeCopy, storeMigrate, storeShow];
