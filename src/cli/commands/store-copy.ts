// lingate store copy: copies everything in a store to an empty one of any kind, and compares both at the end.
import { minorRoundedDown } from '../../domain/money.ts';
import { NoStoreError } from '../../domain/store-unavailable.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';

const TELL_EVERY_MS = 5000;
const TELL_EVERY_TEAMS = 1000;

export const storeCopy: Command = {
  name: 'store copy',
  summary: 'Copies a store to an empty store of any kind, and compares both.',
  usage: '--from URL --to URL [--restart]',
  about:
    'From SQLite to Redis, from Redis to SQLite, and between two of a kind. No gateway may use either store. Until the copy is ' +
    'complete and compared, the target is marked as incomplete, and nothing uses it. The source is only read.',
  flags: {
    from: { kind: 'text', value: 'URL', summary: 'the store to copy', required: true },
    to: { kind: 'text', value: 'URL', summary: 'the store to copy to, which must be empty', required: true },
    restart: { kind: 'switch', summary: 'clear the target if an earlier copy to it was not completed' },
  },
  examples: [
    'lingate store copy --from sqlite:data/lingate.db --to redis://127.0.0.1:6379',
    'lingate store copy --from redis://127.0.0.1:6379 --to sqlite:data/lingate.db --restart',
  ],
  async run(context) {
    const [from, to] = [context.required('from'), context.required('to')];
    const { io } = context;
    const { copyStoreTo } = await import('../../app/store-upkeep.ts');
    let toldAtMs = performance.now();
    const startedAtMs = toldAtMs;
    const tell = (doing: string, teams: number): void => {
      toldAtMs = performance.now();
      io.err(io.watched ? `\r${doing}: ${teams} teams` : `lingate store copy: ${doing}: ${teams} teams\n`);
    };
    tell('copying', 0);
    const tally = await copyStoreTo({
      from,
      to,
      restart: context.on('restart'),
      onProgress: ({ doing, teams }) => {
        if (performance.now() - toldAtMs >= TELL_EVERY_MS || (io.watched && teams % TELL_EVERY_TEAMS === 0)) tell(doing, teams);
      },
    }).catch((error: unknown) => {
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
