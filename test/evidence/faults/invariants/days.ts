// The usage history of each team against the journal: what its ids were charged is what its days and periods have.
import { dayOf } from '../../../../src/index.ts';
import type { Finding, History } from '../../../support/history.ts';
import { unaccounted } from '../../../support/auditor/totals.ts';
import type { Charge } from '../../../support/auditor/totals.ts';
import { livesOf } from './lives.ts';
import type { Life } from './lives.ts';

/** L9. */
export function dayFindings({ teams, operations }: History): Finding[] {
  const byTeam = Map.groupBy(livesOf(operations).values(), ({ teamId }) => teamId);
  return teams.flatMap(({ teamId, days, periods }) =>
    unaccounted((byTeam.get(teamId) ?? []).flatMap(chargesOf), days, periods).map((fault): Finding => ({
      invariant: 'L9',
      what: `team ${teamId}: ${fault}`,
    })),
  );
}

function chargesOf({ reserved: [reservation], ended: [end] }: Life): Charge[] {
  if (reservation === undefined || end?.as !== 'committed') return [];
  return [{ day: dayOf(end.atMs), keyId: reservation.keyId, characters: reservation.characters }];
}
