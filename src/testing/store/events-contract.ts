// Part of the store contract: the outbox, and the events that operators' changes keep in it while a gateway sends events. Those about
// usage are found by the gateway if the store does not keep them (stores/records/usage-events.ts).
import { expect } from '../expect.ts';
import { toMicro } from '../../domain/money.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { DueEvent, OutboxEvent, Outbox } from '../../ports/outbox.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { freshKey, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const LOTS = 10_000;
const DAY_MS = 86_400_000;

interface Scene {
  readonly team: TeamUnderTest;
  /** Two instances that were opened while a gateway was sending. */
  readonly here: PluginStore;
  readonly there: PluginStore;
  readonly outbox: Outbox;
  /** The team's events that are due. */
  readonly due: () => Promise<readonly DueEvent[]>;
  readonly all: () => Promise<readonly OutboxEvent[]>;
}

export function eventsContract(it: AddStoreCase, subject: Subject): void {
  let cases = 0;
  /** Begins each case after the leases of those before have ended, although some of them end with the clock set back. */
  const begin = (): void => subject.clock.step(10 * DAY_MS * ++cases);
  const withEvents = (name: string, run: (scene: Scene) => Promise<void>): void => {
    it(name, async () => {
      begin();
      expect(await subject.store.outbox.lease('contract', 1000)).toBe(true);
      const [here, there] = [await subject.open(), await subject.open()];
      expect(await subject.store.outbox.release('contract')).toBeUndefined();
      const team = await teamUnderTest(here, PREPAID, toMicro(100));
      const { outbox } = here;
      const due = async () => answered(await outbox.due(LOTS)).filter(({ teamId }) => teamId === team.teamId);
      const all = async () => {
        const events: OutboxEvent[] = [];
        // What a deletion has removed may still be listed.
        for (const event of await due()) events.push(...[answered(await outbox.read(event))].filter((one) => one !== undefined));
        return events.toSorted((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1));
      };
      try {
        await run({ team, here, there, outbox, due, all });
      } finally {
        await here.close();
        await there.close();
      }
    });
  };

  withEvents('creating, changing and revoking keeps one event each, however often it is repeated', async ({ team, here, there, all }) => {
    const { teamId } = team;
    const key = freshKey(teamId, 'website', 'test');
    answered(await there.teams.createKey(key));
    for (const store of [here, there]) answered(await store.teams.revokeKey(key.keyId));
    subject.clock.step(1);
    const change = { name: 'Renamed', once: { id: 'a', request: 'a' } };
    for (const store of [here, there]) answered(await store.teams.updateTeam(teamId, change));
    const record = answered(await here.teams.findTeam(teamId))!;
    answered(await there.teams.createTeam(record));
    const events = await all();
    const updated = events.filter(({ facts }) => facts.kind === 'team_updated');
    expect(updated.map(({ teamId: of, atMs, facts }) => ({ of, atMs, facts }))).toEqual([
      { of: teamId, atMs: subject.clock.nowMs(), facts: { kind: 'team_updated', team: record } },
    ]);
    const others = [`${teamId}-created`, `${team.keyId}-created`, `${key.keyId}-created`, `${key.keyId}-revoked`];
    expect(events.filter((one) => !updated.includes(one)).map(({ id }) => id)).toEqual(others.toSorted());
    expect(events.find(({ id }) => id.endsWith('-revoked'))?.facts).toMatchObject({
      kind: 'key_revoked',
      key: { keyId: key.keyId, display: key.display, label: 'website', mode: 'test', status: 'revoked' },
    });
  });

  withEvents('a changed key is recorded as it is then, and an unchanged one is not', async ({ team: { keyId }, here, there, all }) => {
    const limits = { characters: 5, allowedAddresses: ['10.0.0.0/8'] };
    const changes = [
      { label: 'new', limits },
      { label: 'new', limits: { characters: 5 } },
      { disabled: true },
      { disabled: false, limits: { characters: null, allowedAddresses: null } },
    ];
    for (const change of changes) {
      subject.clock.step(1);
      for (const store of [here, there]) answered(await store.teams.updateKey(keyId, change));
    }
    const updates = (await all()).flatMap(({ atMs, facts }) => (facts.kind === 'key_updated' ? [{ atMs, key: facts.key }] : []));
    const nowMs = subject.clock.nowMs();
    expect(updates).toMatchObject([
      { atMs: nowMs - 3, key: { keyId, label: 'new', status: 'active', limits } },
      { atMs: nowMs - 1, key: { status: 'disabled', limits } },
      { atMs: nowMs, key: { status: 'active', limits: {} } },
    ]);
  });

  withEvents('changes within a millisecond are an event each, on all instances, also after events before were delivered', async (scene) => {
    const { team, here, there, outbox, due } = scene;
    const ids = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const changes = Array.from({ length: 16 }, (_, i) => {
        const { teams } = i % 2 === 0 ? here : there;
        return i % 4 === 3
          ? teams.updateKey(team.keyId, { label: `${round} ${i}` })
          : teams.updateTeam(team.teamId, { addMicro: toMicro(1) });
      });
      for (const change of await Promise.all(changes)) answered(change);
      const found = (await due()).filter(({ id }) => id.includes('-updated-'));
      expect(found).toHaveLength(16);
      for (const event of found) {
        ids.add(event.id);
        expect(await outbox.remove(event)).toBeUndefined();
      }
    }
    expect(ids.size).toBe(48);
  });

  withEvents('an event that a change of records brings is stored with it', async ({ team: { teamId }, here, all }) => {
    const facts = { kind: 'document_done', documentId: 'D1', keyId: 'K1', format: 'docx', state: 'done', characters: 7 } as const;
    const event = { id: 'D1-done', facts };
    expect(await here.records.change(teamId, [], () => ({ result: true, event }))).toBe(true);
    expect((await all()).filter(({ id }) => id === event.id)).toEqual([{ ...event, teamId, atMs: subject.clock.nowMs() }]);
  });

  withEvents(
    'a deleted team is reported once, and no event has its name or labels any more',
    async ({ team, here, there, outbox, all }) => {
      const [known] = await all();
      for (const { teams } of [here, there, here]) answered(await teams.deleteTeam(team.teamId, { keepUsage: false }));
      const events = await all();
      expect(events.map(({ id, facts }) => ({ id, facts }))).toEqual([{ id: `${team.teamId}-deleted`, facts: { kind: 'team_deleted' } }]);
      expect(answered(await outbox.read({ ...known!, tries: 0 }))).toBeUndefined();
    },
  );

  withEvents('an event is due at once, then when it was postponed to, and gone when it was removed', async ({ team, outbox, due }) => {
    const mine = async () => (await due()).filter(({ id }) => id === `${team.teamId}-created`);
    const [event] = await mine();
    expect(event).toEqual({ id: `${team.teamId}-created`, teamId: team.teamId, tries: 0 });
    expect(await outbox.postpone(event!, 5000)).toBeUndefined();
    subject.clock.step(4999);
    expect(await mine()).toEqual([]);
    subject.clock.step(1);
    expect(await mine()).toEqual([{ ...event, tries: 1 }]);
    const pending = answered(await outbox.pending());
    expect(await outbox.remove(event!)).toBeUndefined();
    expect(await mine()).toEqual([]);
    expect(answered(await outbox.pending())).toBe(pending - 1);
    expect(await outbox.read(event!)).toBeUndefined();
    expect(await outbox.remove(event!)).toBeUndefined();
    expect(await outbox.postpone(event!, 1)).toBeUndefined();
    subject.clock.step(1);
    expect(await outbox.read(event!)).toBeUndefined();
  });

  withEvents('the longest due events are returned first, and no more than the given limit', async ({ team, here, outbox }) => {
    subject.clock.step(10);
    const later = await teamUnderTest(here);
    const ids = answered(await outbox.due(LOTS)).map(({ id }) => id);
    expect(ids.indexOf(`${team.teamId}-created`) < ids.indexOf(`${later.teamId}-created`)).toBe(true);
    expect(answered(await outbox.due(1)).map(({ id }) => id)).toEqual(ids.slice(0, 1));
  });

  it('one process holds the lease until it gives it back or its time is over', async () => {
    begin();
    const [here, there] = [subject.store.outbox, subject.again.outbox];
    expect(await here.lease('a', 1000)).toBe(true);
    expect(await there.lease('b', 1000)).toBe(false);
    subject.clock.step(500);
    expect(await here.lease('a', 1000)).toBe(true);
    subject.clock.step(999);
    expect(await there.lease('b', 1000)).toBe(false);
    subject.clock.step(1);
    expect(await there.lease('b', 1000)).toBe(true);
    expect(await here.lease('a', 1000)).toBe(false);
    expect(await here.release('a')).toBeUndefined();
    expect(await here.lease('a', 1000)).toBe(false);
    expect(await there.release('b')).toBeUndefined();
    expect(await here.lease('a', 1000)).toBe(true);
    expect(await here.release('a')).toBeUndefined();
  });

  withEvents('a day after the last gateway nothing is left', async ({ team, due }) => {
    const storedAfter = async (ms: number): Promise<number> => {
      subject.clock.step(ms);
      const store = await subject.open();
      answered(await store.teams.updateTeam(team.teamId, { addMicro: 1 }));
      await store.close();
      return (await due()).filter(({ id }) => id.includes('-updated-')).length;
    };
    expect(await storedAfter(DAY_MS - 1000)).toBe(1);
    expect(await storedAfter(1000)).toBe(1);
  });
}
