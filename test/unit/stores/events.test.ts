// Whether operators' changes are kept as events: by the rules of the gateways that send them, also where a process has none. Events about
// usage are in usage-events.test.ts and limit-events.test.ts.
import { describe, expect, test } from 'vitest';
import { eventRules } from '../../../src/domain/event-rules.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { storesOfFile } from '../../support/stores-of-file.ts';

const RULES = eventRules([80, 95, 100], [1000, 0]);

const { kinds } = await storesOfFile();

describe.each(kinds)('$name', ({ open }) => {
  test('a process without rules follows those of a gateway that sends events, or did within a day', async () => {
    const clock = new MovableClock();
    const store = await open(clock, RULES);
    const team = await teamUnderTest(promisedStore(store));
    const kept = async (): Promise<number> => answered(await store.outbox.due(1000)).filter(({ teamId }) => teamId === team.teamId).length;
    const rename = async (name: string): Promise<number> => {
      const command = await open(clock, undefined);
      clock.step(1);
      answered(await command.teams.updateTeam(team.teamId, { name }));
      await command.close();
      return kept();
    };
    expect(await store.outbox.lease('gateway', 1000)).toBe(true);
    const before = await kept();
    expect(await rename('While it runs')).toBe(before + 1);
    expect(await store.outbox.release('gateway')).toBeUndefined();
    clock.step(86_000_000);
    expect(await rename('On the next day')).toBe(before + 2);
    clock.step(500_000);
    expect(await rename('Later')).toBe(before + 2);
    await store.close();
  });
});
