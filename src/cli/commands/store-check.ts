// lingate store check: whether the records of a store are consistent, while gateways use it.
import type { StoreFinding } from '../../ports/store-contents.ts';
import { NoStoreError } from '../../domain/store-unavailable.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';
import { missingStore } from '../with-store.ts';

/** Any more are only counted. */
const PRINTED_MAX = 1000;
const TELL_EVERY_TEAMS = 1000;

export const storeCheck: Command = {
  name: 'store check',
  summary: 'Checks the store for inconsistent records.',
  usage: '',
  about:
    'It only reads, and can run while gateways use the store: a fault is checked twice before it is reported. The exit status is 1 if ' +
    'there is a fault; each fault is one line with its team and key.',
  flags: {},
  examples: ['lingate store check', 'lingate store check --store redis://127.0.0.1:6379 --json'],
  async run(context) {
    const config = await context.config();
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
    const counts = await checkStoreAt(config.store, report, onTeam).catch((error: unknown) => {
      throw error instanceof NoStoreError ? new CommandFailure(missingStore(error, config)) : error;
    });
    if (context.io.watched && counts.teams >= TELL_EVERY_TEAMS) context.io.err('\r');
    const { teams, keys, glossaries } = counts;
    context.print({ store: shown, ok: found === 0, ...counts, faults: found, findings: findings.map(reportOf) }, () =>
      [
        ...findings.map(lineOf),
        `Checked ${teams} teams, ${keys} keys and ${glossaries} glossaries: ${found === 0 ? 'nothing is wrong' : faultsText(found)}.`,
      ].join('\n'),
    );
    if (found > 0)
      throw new CommandFailure(`${shown} has ${faultsText(found)}; keep a copy of it as it is, and see config/manual/keeping-data.md`);
  },
};

function faultsText(count: number): string {
  return count === 1 ? '1 fault' : `${count} faults`;
}

function reportOf({ what, teamId, keyId, detail }: StoreFinding): Record<string, string | null> {
  return { what, team_id: teamId ?? null, key_id: keyId ?? null, detail };
}

function lineOf({ what, teamId, keyId, detail }: StoreFinding): string {
  const where = [teamId === undefined ? '' : `team ${teamId}`, keyId === undefined ? '' : `key ${keyId}`].filter((part) => part !== '');
  return `${what}: ${where.length === 0 ? '' : `${where.join(', ')}: `}${detail}`;
}
