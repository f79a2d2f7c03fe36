// CSV by RFC 4180 that no spreadsheet executes, although names and labels are free text; the download is refused before anything is sent, or broken off if the store fails later.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvOf, downloadOf } from '../../../src/admin/csv.ts';
import { listUsage, usageColumns } from '../../../src/admin/operations/usage.ts';
import type { UsageRow } from '../../../src/admin/usage-rows.ts';
import type { UsageHistory } from '../../../src/ports/usage-history.ts';
import { historyContext, inputOf } from './history-context.ts';
import { idAt, writtenHistory, writtenTeam } from '../../support/written-history.ts';

const ROW: UsageRow = {
  team_id: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  name: 'Acme',
  plan: 'pro',
  date: '2026-11-22',
  character_count: 1200,
  request_count: 40,
  test_character_count: 3,
};
const KEY = { key_id: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRD', display: 'la_live_Ab3d', label: 'backend', mode: 'live' } as const;

/** The second cell of the only row. */
function cellOf(name: string): string {
  const rows = parse(csvOf(usageColumns({ keys: false })).lines([{ ...ROW, name }]));
  expect([rows.length, rows[0]!.length]).toEqual([1, 8]);
  return rows[0]![1]!;
}

describe('lines', () => {
  test('for teams', () => {
    const { head, lines } = csvOf(usageColumns({ keys: false }));
    expect(head).toBe('team_id,name,plan,date,character_count,request_count,test_character_count,reference\r\n');
    expect(lines([ROW, { ...ROW, date: null }])).toBe(
      '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC,Acme,pro,2026-11-22,1200,40,3,\r\n01JD3Q7V6Y8Z0XKQ4T5N2M9HRC,Acme,pro,,1200,40,3,\r\n',
    );
    expect(lines([])).toBe('');
  });

  test('for keys', () => {
    const { head, lines } = csvOf(usageColumns({ keys: true }));
    expect(head).toBe('team_id,name,plan,date,character_count,request_count,key_id,display,label,mode,test_character_count,reference\r\n');
    expect(lines([{ ...ROW, ...KEY, label: '', reference: 'K-1' }])).toBe(
      '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC,Acme,pro,2026-11-22,1200,40,01JD3Q7V6Y8Z0XKQ4T5N2M9HRD,la_live_Ab3d,,live,3,K-1\r\n',
    );
  });

  test.each([['a, b'], ['say "hi"'], ['"'], ['two\r\nlines'], ['Équipe Ø 翻訳 🦊'], ['5 = 5'], ['a-b+c@d'], ["O'Brien"], ['a; b']])(
    '%j can be read back unchanged',
    (name) => {
      expect(cellOf(name)).toBe(name);
    },
  );

  test('every name can be read back, except for the apostrophes before formulas', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (name) => {
        const cell = cellOf(name);
        expect(cell.replaceAll("'", '')).toBe(name.replaceAll("'", ''));
        expect(cell.length).toBeGreaterThanOrEqual(name.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('nothing that a spreadsheet would execute', () => {
  test.each<[string, string]>([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1+1', "'-1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\tplain', "'\tplain"],
    ['\r=1', "'\r=1"],
    ['\rplain', "'\rplain"],
    ['  =1', "'  =1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\u200b=1', "'\u200b=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['"=1', `'"=1`],
    ["'=1", "''=1"],
    ['“=1', "'“=1"],
    [' " =1', `' " =1`],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['−1', "'−1"],
    ['a;=1+1', "a;'=1+1"],
    ['a;b; "@x', `a;b;' "@x`],
    ['a\t=1', "a\t'=1"],
    ['a\n=1', "a\n'=1"],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ])('%j is written as %j', (name, written) => {
    expect(cellOf(name)).toBe(written);
  });

  test('labels and plans are escaped as well', () => {
    const [cells] = parse(csvOf(usageColumns({ keys: true })).lines([{ ...ROW, ...KEY, plan: '=1', label: '@x' }])) as [string[]];
    expect([cells[2], cells[8]]).toEqual(["'=1", "'@x"]);
  });
});

/** A strict parser for RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let [at, row]: [number, string[]] = [0, []];
  while (at < text.length) {
    const match = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
    match.lastIndex = at;
    const [whole, quoted, plain] = match.exec(text)!;
    row.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    at += whole.length;
    if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else if (text[at] === ',') at++;
    else throw new Error(`not CSV at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  return rows;
}

const QUESTION = { from: '2026-11-01', to: '2026-11-30', by: 'total' };
const AWAY = { kind: 'unavailable', cause: 'closed' } as const;
const HEAD = 'team_id,name,plan,date,character_count,request_count,test_character_count,reference\r\n';
const teams = Array.from({ length: 150 }, (_, index) => writtenTeam({ name: 'A', days: { '2026-11-02': { a: [7, 1] } } }, index));

async function download(history: UsageHistory, question: object = QUESTION) {
  return downloadOf(listUsage, historyContext(history), inputOf(listUsage, question));
}

describe('the download', () => {
  test('has a line for each row', async () => {
    const file = await download(writtenHistory(teams));
    if (file.kind !== 'download') return expect.unreachable(file.kind);
    expect([file.contentType, file.disposition]).toEqual([
      'text/csv; charset=utf-8',
      'attachment; filename="usage-2026-11-01-to-2026-11-30.csv"',
    ]);
    const text = (await Readable.from(file.pieces).toArray()).join('');
    expect(text).toBe(HEAD + teams.map(({ team }) => `${team.teamId},A,pro,,7,1,0,\r\n`).join(''));
  });

  test('without rows is the header line', async () => {
    const file = await download(writtenHistory([]));
    expect(file.kind === 'download' ? await Readable.from(file.pieces).toArray() : file).toEqual([HEAD]);
  });

  test('is refused before anything is sent if the first page cannot be read', async () => {
    expect(await download({ ...writtenHistory(teams), pageDays: async () => AWAY })).toEqual(AWAY);
    expect(await download(writtenHistory(teams), { ...QUESTION, team: idAt('T', 999) })).toMatchObject({
      kind: 'refused',
      field: 'team',
    });
  });

  test('is broken off when the store fails midway, so that it does not look complete', async () => {
    const history = writtenHistory(teams);
    const file = await download({
      ...history,
      pageDays: async (page, range) => (page.after === undefined ? history.pageDays(page, range) : AWAY),
    });
    if (file.kind !== 'download') return expect.unreachable(file.kind);
    await expect(Readable.from(file.pieces).toArray()).rejects.toThrow('midway');
  });
});
