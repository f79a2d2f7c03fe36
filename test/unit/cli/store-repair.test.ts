// `lingate store check --repair` on the command line: it says what it would do, asks, does it, and then checks the store.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/domain/period.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { atTerminal, inProcess, lingate } from '../../support/lingate-command.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { untilOneDay } from '../../support/one-day.ts';

interface Report {
  readonly ok: boolean;
  readonly faults: number;
  readonly repaired?: readonly Record<string, unknown>[];
}

await untilOneDay();

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  let place: StorePlace;
  let teamId: string;

  beforeEach(async () => {
    place = await storePlace(kind);
    let days = -3;
    const clock = { nowMs: () => Date.now() + days * DAY_MS };
    const store = promisedStore(
      kind === 'redis'
        ? await openRedisStore({ url: place.url, log: SILENT, clock, commandTimeoutMs: 5000 })
        : await openSqliteStore({ path: `${place.folder}/lingate.db`, log: SILENT, clock, busyTimeoutMs: 5000 }),
    );
    const team = await teamUnderTest(store);
    ({ teamId } = team);
    await team.use(10);
    days = 400;
    await team.use(5);
    days = 0;
    await team.use(2);
    await store.close();
  });
  afterEach(() => place.remove());

  const check = (...args: string[]) => inProcess(['store', 'check', '--store', place.url, ...args]);
  /** At a terminal, where somebody types `answer`. */
  const asked = (answer: string, ...args: string[]) => atTerminal(['store', 'check', '--store', place.url, '--repair', ...args], answer);

  test('the check names what a wrong clock has begun, and how to undo it', async () => {
    const { status, stdout } = await check();
    expect(status).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^clock: team ${teamId}: its period begins at \\S+Z, which is still to come; run lingate store check --repair$`, 'm'),
    );
  });

  test('without a terminal and without --yes nothing is done', async () => {
    const { status, stdout, stderr } = await check('--repair');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^lingate store check: --repair asks before it changes anything, and there is no terminal to ask at; use --yes/);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect((await check()).status).toBe(1);
  });

  test('--yes without --repair is refused', async () => {
    expect(await check('--yes')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--yes is only used with --repair') as string,
    });
  });

  test('at a terminal it says what it would do, and does it when the word is typed', async () => {
    const refused = await asked('yes');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('this is not "repair"; nothing was changed');
    const { status, stdout, stderr } = await asked('repair');
    expect(status).toBe(0);
    expect(stderr).toMatch(
      new RegExp(
        `What would be repaired:\\nteam ${teamId} "Team under test": its period \\S+ to \\S+ is undone, \\S+ to \\S+ is open again with 17 characters; ` +
          '5 characters that were counted on days to come are counted today; days until \\S+ may have been deleted[^\\n]*\\nType repair to continue: ',
      ),
    );
    expect(stdout).toMatch(new RegExp(`^repaired: team ${teamId} .* 17 characters`));
    expect(stdout).toContain('nothing is wrong');
  });

  test('with --yes and --json it reports what it did, and a second time nothing', async () => {
    const first = await check('--repair', '--yes', '--json');
    expect(first.status).toBe(0);
    const { repaired, ...report } = JSON.parse(first.stdout) as Report;
    expect(report).toMatchObject({ ok: true, faults: 0 });
    expect(repaired).toMatchObject([
      { team_id: teamId, what: 'reopened', character_count: 17, moved_characters: 5, unknown_characters: 0 },
    ]);
    const second = await check('--repair', '--yes', '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({ ok: true, repaired: [] });
  });

  test('the audit has who repaired which team, with both periods, once', async () => {
    for (let i = 0; i < 2; i++) await check('--repair', '--yes');
    const { stdout } = await inProcess(['audit', 'list', '--store', place.url, '--json']);
    const { entries } = JSON.parse(stdout) as { entries: readonly { action: string; after: { period_end: string } }[] };
    const repairs = entries.filter(({ action }) => action === 'repairTeam');
    const moment = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    const period = { period_start: moment, period_end: moment };
    expect(repairs).toEqual([
      {
        at: moment,
        actor: expect.stringMatching(/^cli:[^@]+@/) as string,
        action: 'repairTeam',
        team_id: teamId,
        key_id: null,
        before: period,
        after: period,
      },
    ]);
    expect(Date.parse(repairs[0]!.after.period_end)).toBeGreaterThan(Date.now());
  });

  test('a repair that the operator refuses leaves no entry', async () => {
    await asked('no');
    expect((await inProcess(['audit', 'list', '--store', place.url])).stdout).not.toContain('repairTeam');
  });

  test('the process itself refuses as well, with nothing on standard output', async () => {
    const { status, stdout, stderr } = await lingate(['store', 'check', '--repair', '--store', place.url]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
