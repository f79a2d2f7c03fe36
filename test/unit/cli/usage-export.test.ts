// lingate usage export and usage periods: what each format contains, what is refused, and how it ends when the reader leaves.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf } from '../../../src/cli/run.ts';
import { listUsage } from '../../../src/admin/operations/usage.ts';
import { commandOf } from '../../../src/cli/operation-command.ts';
import type { Io } from '../../../src/cli/command.ts';
import { dateOf } from '../../../src/domain/usage-days.ts';
import { dayOf } from '../../../src/domain/period.ts';
import { inProcess, parsed, start, temporaryFolder } from '../../support/lingate-command.ts';
import type { Ended, Folder } from '../../support/lingate-command.ts';
import { useStore } from '../../support/used-store.ts';
import type { UsedTeam } from '../../support/used-store.ts';
import { untilOneDay } from '../../support/one-day.ts';

await untilOneDay();
/** Two months, both within the retained days. */
const TODAY = dayOf(Date.now());
const [FROM, TO] = [dateOf(TODAY - 70), dateOf(TODAY)];
const [EARLY, LATE, LAST] = [dateOf(TODAY - 60), dateOf(TODAY - 3), dateOf(TODAY - 1)];
const RANGE = ['--from', FROM, '--to', TO];
/** Enough teams without usage that reading all teams takes several pages. */
const IDLE = 260;

let folder: Folder;
let env: Record<string, string>;
let acme: UsedTeam;
let other: UsedTeam;
const run = (...words: string[]): Promise<Ended> => inProcess(['usage', ...words], env);

beforeAll(async () => {
  folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, 'lingate.db')}`;
  env = { LINGATE_STORE: url };
  const idle = Array.from({ length: IDLE }, (_, index) => ({ name: `Idle ${index}`, days: {} }));
  const used = {
    [EARLY]: { backend: [100, 2], website: [30, 3] },
    [LATE]: { website: [7, 1] },
  } as const;
  [acme, , other] = (await useStore(url, FROM, [
    { name: '=Acme, "Ltd"', days: used },
    ...idle.slice(0, 1),
    { name: 'Other', reference: 'K-20417', days: { [LATE]: { only: [5, 1] }, [LAST]: { only: [6, 2] } } },
    ...idle.slice(1),
  ])) as [UsedTeam, UsedTeam, UsedTeam];
});
afterAll(() => folder.remove());

describe('usage export', () => {
  test('writes CSV', async () => {
    expect(await run('export', ...RANGE, '--csv')).toEqual({
      status: 0,
      stderr: '',
      stdout: [
        'team_id,name,plan,date,character_count,request_count,test_character_count,reference',
        `${acme.teamId},"'=Acme, ""Ltd""",pro,${EARLY},130,5,0,`,
        `${acme.teamId},"'=Acme, ""Ltd""",pro,${LATE},7,1,0,`,
        `${other.teamId},Other,pro,${LATE},5,1,0,K-20417`,
        `${other.teamId},Other,pro,${LAST},6,2,0,K-20417`,
        '',
      ].join('\r\n'),
    });
  });

  test('writes CSV for keys, in total', async () => {
    const { stdout } = await run('export', ...RANGE, '--csv', '--keys', '--by', 'total', '--team', acme.teamId.toLowerCase());
    const lines = stdout.split('\r\n').map((line) => line.split(/,(?! )/));
    expect(lines[0]).toEqual(
      'team_id,name,plan,date,character_count,request_count,key_id,display,label,mode,test_character_count,reference'.split(','),
    );
    expect(lines.slice(1, -1).map((cells) => cells.slice(3, -1).filter((_, index) => index !== 4))).toEqual([
      ['', '100', '2', acme.keyIds['backend'], 'backend', 'live', '0'],
      ['', '37', '4', acme.keyIds['website'], 'website', 'live', '0'],
    ]);
  });

  test('writes JSON with a row on each line', async () => {
    const ended = await run('export', ...RANGE, '--json', '--by', 'month');
    const { usage } = parsed(ended) as { usage: Record<string, unknown>[] };
    expect(usage.map(({ team_id, date, character_count, request_count }) => [team_id, date, character_count, request_count])).toEqual([
      [acme.teamId, EARLY.slice(0, 7), 130, 5],
      [acme.teamId, LATE.slice(0, 7), 7, 1],
      ...(LATE.slice(0, 7) === LAST.slice(0, 7)
        ? [[other.teamId, LAST.slice(0, 7), 11, 3]]
        : [
            [other.teamId, LATE.slice(0, 7), 5, 1],
            [other.teamId, LAST.slice(0, 7), 6, 2],
          ]),
    ]);
    expect(ended.stdout.split('\n')).toHaveLength(usage.length + 3);
  });

  test('writes aligned columns for people', async () => {
    const { stdout, status } = await run('export', ...RANGE, '--keys');
    const [head, ...lines] = stdout.trimEnd().split('\n') as [string, ...string[]];
    expect([status, lines.length]).toEqual([0, 5]);
    for (const word of ['TEAM', 'PLAN', 'KEY', 'BEGINS WITH', 'MODE', 'NAME']) {
      const at = head.indexOf(word);
      expect([word, ...lines.map((line) => line.slice(at - 2, at))]).toEqual([word, ...lines.map(() => '  ')]);
      expect(lines.every((line) => /\S/.test(line[at]!))).toBe(true);
    }
    expect(head.indexOf('CHARACTERS') + 'CHARACTERS'.length).toBe(lines[0]!.indexOf(' 100 ') + 4);
    expect(lines[0]).toMatch(/ =Acme, "Ltd", backend$/);
    const inAll = await run('export', ...RANGE, '--by', 'total');
    expect(inAll.stdout).toMatch(/^CHARACTERS +REQUESTS +TEAM .*\n +137 +6 +\w{26} +pro +=Acme, "Ltd"\n/);
  });

  test('for days without usage says so to people, and is empty for programs', async () => {
    const nothing = ['--from', FROM, '--to', FROM];
    expect((await run('export', ...nothing)).stdout).toMatch(/^Nothing was used\.\n$/);
    expect((await run('export', ...nothing, '--csv')).stdout).toBe(
      'team_id,name,plan,date,character_count,request_count,test_character_count,reference\r\n',
    );
    expect(parsed(await run('export', ...nothing, '--json'))).toEqual({ usage: [] });
  });

  test.each<[string, string[], 1 | 2, RegExp]>([
    ['no days', [], 2, /: --from D is missing\. /],
    ['no end', ['--from', FROM], 2, /: --to D is missing\. /],
    ['the 30th of February', ['--from', '2026-02-30', '--to', TO], 2, /: --from "2026-02-30" is not a UTC day, for example 2026-11-22/],
    ['a date with short numbers', ['--from', FROM, '--to', '26-1-1'], 2, /: --to "26-1-1" is not a UTC day/],
    ['days the wrong way round', ['--from', TO, '--to', FROM], 2, /: --to must not be before the first day\. /],
    ['401 days', ['--from', dateOf(TODAY - 400), '--to', TO], 2, /: --to ends a range of 401 days; the maximum is 400/],
    ['another span', [...RANGE, '--by', 'week'], 2, /: --by "week" is not one of day, month, total\. /],
    ['two forms', [...RANGE, '--csv', '--json'], 2, /: --csv and --json exclude each other/],
    ['an operand', [...RANGE, 'x'], 2, /: "x" is one argument too many; this command takes only flags\. /],
    ['an invalid team id', [...RANGE, '--team', 'acme'], 1, /: "acme" is not a team's id; /],
    ['an unknown team', [...RANGE, '--team', '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', '--csv'], 1, /: there is no team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC; /],
  ])('refuses %s in one line, and writes nothing', async (_what, words, status, line) => {
    const ended = await run('export', ...words);
    expect(ended).toEqual({ status, stdout: '', stderr: expect.stringMatching(/^lingate usage export[^\n]+\n$/) as string });
    expect(ended.stderr).toMatch(line);
  });
});

describe('usage periods', () => {
  test('lists them newest first', async () => {
    const { periods } = parsed(await run('periods', acme.teamId, '--json')) as { periods: Record<string, unknown>[] };
    const starts = periods.map((period) => String(period['period_start']));
    expect(starts).toEqual(starts.toSorted().toReversed());
    expect(periods.reduce((sum, period) => sum + Number(period['character_count']), 0)).toBe(137);
    expect(periods[0]).toMatchObject({ closed: false, plan: 'pro', billing: 'quota', character_limit: 1_000_000 });
    expect(periods.at(-1)).toMatchObject({ closed: true, character_count: 130, overage: { character_count: 0, cost_minor: 0 } });
    const { stdout } = await run('periods', acme.teamId);
    expect(stdout.split('\n')[0]).toMatch(/^FROM +TO +STATE +PLAN +BILLING +CHARACTERS +INCLUDED +OVERAGE$/);
  });

  test('refuses an unknown team in one line', async () => {
    expect(await run('periods', '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC')).toMatchObject({ status: 1, stdout: '' });
    expect((await run('periods')).stderr).toBe('lingate usage periods: TEAM is missing. Run "lingate usage periods --help".\n');
  });
});

describe('usage TEAM', () => {
  test('still prints the current usage', async () => {
    expect(parsed(await run(acme.teamId, '--json'))).toMatchObject({ team_id: acme.teamId });
    expect((await run()).stderr).toBe('lingate usage: TEAM is missing. Run "lingate usage --help".\n');
    expect((await run('acme')).stderr).toMatch(/^lingate usage: "acme" is not a team's id; /);
  });

  test('and its help mention the subcommands', async () => {
    expect((await run('exprot')).stderr).toBe(
      'lingate usage: unknown command "exprot"; did you mean export? Run "lingate usage --help".\n',
    );
    const help = await run('--help');
    expect(help.stdout).toMatch(/\nSee also:\n {2}usage export .+\n {2}usage periods .+\n/);
  });
});

/** A terminal or a log as output, with a clock that advances by a second at each reading. */
function ioOf(more: Partial<Io>): Io & { readonly written: string[]; readonly errors: string[] } {
  const [written, errors]: [string[], string[]] = [[], []];
  let nowMs = Date.now();
  return {
    out: (text) => void written.push(text),
    err: (text) => void errors.push(text),
    env,
    watched: false,
    shown: false,
    abandoned: () => false,
    secret: () => Promise.resolve(''),
    asks: false,
    line: () => Promise.resolve(undefined),
    nowMs: () => (nowMs += 1000),
    ...more,
    written,
    errors,
  };
}

async function runOn(io: Io): Promise<void> {
  const values = new Map([
    ['from', [FROM]],
    ['to', [TO]],
    ['csv', []],
  ]);
  const usageExport = commandOf(listUsage);
  await usageExport.run(contextOf('usage export', usageExport, { operands: [], values }, io));
}

describe('while it runs', () => {
  test('a terminal that does not show the rows shows how many teams were read, and clears that at the end', async () => {
    const io = ioOf({ watched: true });
    await runOn(io);
    expect(io.errors.length).toBeGreaterThan(2);
    expect(io.errors.slice(0, -1).every((text) => /^\r\d+ teams$/.test(text))).toBe(true);
    expect(io.errors.at(-1)).toMatch(/^\r +\r$/);
  });

  test('a terminal that shows the rows, and a log with so few teams, show no progress', async () => {
    for (const io of [ioOf({ watched: true, shown: true }), ioOf({})]) {
      await runOn(io);
      expect(io.errors).toEqual([]);
    }
  });

  test('every chunk ends with a line end', async () => {
    const io = ioOf({});
    await runOn(io);
    expect(io.written.filter((text) => text !== '').every((text) => text.endsWith('\r\n'))).toBe(true);
  });

  test('after the reader has left, nothing more is written, and no more teams are read', async () => {
    let asked = 0;
    await runOn(ioOf({ abandoned: () => ++asked === 0 }));
    expect(asked).toBeGreaterThan(5);
    asked = 0;
    await runOn(ioOf({ abandoned: () => ++asked === 1 }));
    expect(asked).toBe(1);
  });

  test('the process ends silently with status 0 when its reader leaves', async () => {
    const started = start(['usage', 'export', ...RANGE, '--csv'], { env });
    started.stdout.destroy();
    expect(await started.ended).toEqual({ status: 0, signal: null });
    expect(started.output).toBe('');
  });
});
