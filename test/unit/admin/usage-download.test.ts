// Usage as a file: what is refused before anything is sent, and what may not look complete.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { usageDownload } from '../../../src/admin/usage-download.ts';
import { UsageReading } from '../../../src/admin/usage-reading.ts';
import type { UsageQuestion } from '../../../src/admin/usage-rows.ts';
import { readDayRange } from '../../../src/domain/usage-days.ts';
import type { DayRange } from '../../../src/domain/usage-days.ts';
import type { UsageHistory } from '../../../src/ports/usage-history.ts';
import { idAt, writtenHistory, writtenTeam } from '../../support/written-history.ts';

const QUESTION: UsageQuestion = {
  range: readDayRange('2026-11-01', '2026-11-30') as DayRange,
  by: 'total',
  keys: false,
  teamId: undefined,
};
const AWAY = { kind: 'unavailable', cause: 'closed' } as const;
const HEAD = 'team_id,name,plan,date,character_count,request_count\r\n';
const teams = Array.from({ length: 150 }, (_, index) => writtenTeam({ name: 'A', days: { '2026-11-02': { a: [7, 1] } } }, index));

async function download(history: UsageHistory | undefined, question = QUESTION) {
  return usageDownload(new UsageReading(history), question);
}

test('has a line of every row', async () => {
  const file = await download(writtenHistory(teams));
  if (file.kind !== 'download') return expect.unreachable(file.kind);
  expect([file.contentType, file.disposition]).toEqual([
    'text/csv; charset=utf-8',
    'attachment; filename="usage-2026-11-01-to-2026-11-30.csv"',
  ]);
  const text = (await Readable.from(file.pieces).toArray()).join('');
  expect(text).toBe(HEAD + teams.map(({ team }) => `${team.teamId},A,pro,,7,1\r\n`).join(''));
});

test('of nobody is the line of names', async () => {
  const file = await download(writtenHistory([]));
  expect(file.kind === 'download' ? await Readable.from(file.pieces).toArray() : file).toEqual([HEAD]);
});

test('what cannot be read at all is refused, not sent', async () => {
  expect(await download(undefined)).toEqual({ kind: 'no_history' });
  expect(await download({ ...writtenHistory(teams), pageDays: async () => AWAY })).toEqual(AWAY);
  expect(await download(writtenHistory(teams), { ...QUESTION, teamId: idAt('T', 999) })).toEqual({
    kind: 'no_such_team',
    teamId: idAt('T', 999),
  });
});

test('a store that fails midway breaks the file off', async () => {
  const history = writtenHistory(teams);
  const file = await download({
    ...history,
    pageDays: async (page, range) => (page.after === undefined ? history.pageDays(page, range) : AWAY),
  });
  if (file.kind !== 'download') return expect.unreachable(file.kind);
  await expect(Readable.from(file.pieces).toArray()).rejects.toThrow('midway');
});
