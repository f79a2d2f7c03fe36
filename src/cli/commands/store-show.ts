// lingate store show: prints what the store has of a team, for whoever has to look behind the reports.
import { keySubject, tagSubject } from '../../domain/window-limits.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { noSuch } from '../../admin/operation.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';
import { teamOperand } from '../operand.ts';
import { whereNoStore } from '../with-store.ts';

export const storeShow: Command = {
  usage: 'TEAM',
  about:
    'Records, counters by subject and window, open reservations, and how many slots of rate windows are taken: one line each, a name ' +
    'and JSON. It only reads, and needs no gateway. Digests of keys and entries of glossaries are left out; names of files and addresses ' +
    'of documents are not.',
  operands: ['TEAM'],
  examples: ['lingate store show 01JD8ZQ4T7X3V9K2M5N6P8R0SA', 'lingate store show 01JD8ZQ4T7X3V9K2M5N6P8R0SA --json'],
  async run(context) {
    const teamId = teamOperand(context);
    const config = await context.config();
    const { accountAt } = await import('../../app/store-upkeep.ts');
    const account = await accountAt(config, teamId, ({ keyId, detail }) =>
      context.io.err(`lingate store show: ${keyId === undefined ? '' : `key ${keyId}: `}${detail}; run "lingate store check"\n`),
    ).catch(whereNoStore(config));
    if (account === undefined) throw new CommandFailure(noSuch('team', teamId).named);
    const shown = shownAccount(account);
    context.print(Object.fromEntries(shown), () => shown.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join('\n'));
  },
};

/** By names like those of the fields in Redis. */
function shownAccount(account: WholeAccount): [name: string, value: unknown][] {
  const { team, period, standing, window, windowCounts, keys, days, periods, requests, changes, records } = account;
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
    ...periods.map(({ number, ...one }): [string, unknown] => [`period:${number}`, one]),
    ...days.map(({ keyId, day, ...use }): [string, unknown] => [`day:${day}:${keySubject(keyId)}`, use]),
    ...changes.map(({ id, ...change }): [string, unknown] => [`once:${id}`, change]),
    ...records.map(({ table, id, value }): [string, unknown] =>
      table === 'tag_limits' ? [tagSubject(id), JSON.parse(value)] : [`${table}:${id}`, value],
    ),
  ];
}
