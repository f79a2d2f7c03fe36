// Part of the store contract: concurrent operations, also over several instances on the same backing.
import type { Audited } from '../../domain/audit-entry.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import type { Admission, Admitted } from '../../ports/ledger.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { freshKey, newId, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const REQUESTS = 200;
const OPERATORS = 50;

export function concurrencyContract(it: AddStoreCase, subject: Subject): void {
  /** Runs 200 concurrently, every other one on the second instance. */
  const atOnce = <T>(run: (store: PluginStore, index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: REQUESTS }, (_, index) => run(index % 2 === 0 ? subject.store : subject.again, index)));

  it('200 concurrent repetitions of one admission make one reservation, and 200 settlements of it count once', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    const { requestId } = await team.reserve(10);
    const answers = admitted(await atOnce((store) => team.admit({ requestId }, store)));
    expect(answers).toHaveLength(REQUESTS);
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
    const kinds = await atOnce(
      async (store, index) => (await store.ledger.resolve(team.teamId, requestId, index % 3 === 0 ? 'commit' : 'release')).kind,
    );
    const [settled, ...others] = kinds.filter((kind) => kind !== 'absent');
    expect(others).toEqual([]);
    const charged = settled === 'committed' ? 10 : 0;
    expect(await team.standing()).toMatchObject({ usedCharacters: charged, heldCharacters: 0, openReservations: 0 });
  });

  it('50 operators who change one team at once, beside its callers: no change is lost, and each is in the audit', async () => {
    const { store, again } = subject;
    const team = await teamUnderTest(store, PREPAID, 10_000_000);
    const by: Audited = { actor: 'cli:ada@host', action: 'updateTeam' };
    const ids = Array.from({ length: OPERATORS }, newId);
    const [teams, keys, labels, admissions] = await Promise.all([
      Promise.all(ids.map((name, i) => (i % 2 === 0 ? store : again).teams.updateTeam(team.teamId, { name, addMicro: 1000 }, by))),
      Promise.all(ids.map((keyId, i) => (i % 2 === 0 ? again : store).teams.createKey({ ...freshKey(team.teamId), keyId }, by))),
      Promise.all(ids.map((label, i) => (i % 2 === 0 ? store : again).teams.updateKey(team.keyId, { label }, by))),
      Promise.all(ids.map((_, i) => team.admit({}, i % 2 === 0 ? store : again))),
    ]);
    expect(teams.filter((one) => 'name' in answered(one)!)).toHaveLength(OPERATORS);
    expect(keys.map((one) => answered(one)!.keyId)).toEqual(ids);
    expect(labels.map((one) => answered(one)!.label)).toEqual(ids);
    expect(admitted(admissions)).toHaveLength(OPERATORS);
    const entries = answered(await again.audit.page({ teamId: team.teamId, after: undefined, sinceMs: undefined, limit: 200 }));
    expect(entries).toHaveLength(3 * OPERATORS);
    const balanceMicro = 10_000_000 + OPERATORS * 1000;
    const { name, ...rest } = answered(await store.teams.findTeam(team.teamId))!;
    expect(rest).toMatchObject({ balanceMicro });
    // Each began where another one ended.
    const valuesOf = (member: 'name' | 'label', when: 'before' | 'after', keyId: string | undefined): string[] =>
      entries.filter((one) => one.keyId === keyId).map((one) => (one[when] as Record<typeof member, string>)[member]);
    const known = answered(await again.teams.listKeys(team.teamId))!;
    const { label } = known.find(({ keyId }) => keyId === team.keyId)!;
    for (const [member, keyId, first, last] of [
      ['name', undefined, 'Team under test', name],
      ['label', team.keyId, 'backend', label],
    ] as const) {
      expect(valuesOf(member, 'after', keyId).toSorted()).toEqual(ids.toSorted());
      expect([...valuesOf(member, 'before', keyId), last].toSorted()).toEqual([...ids, first].toSorted());
    }
    expect(known).toHaveLength(OPERATORS + 1);
    expect(await team.standing(again)).toMatchObject({ openReservations: OPERATORS, balanceMicro });
  });
}

function admitted(answers: readonly Admission[]): Admitted[] {
  return answers.filter((answer) => answer.kind === 'admitted');
}
