// Part of the store contract: the audit log, written by the operations that it records.
import { answered } from '../../domain/store-unavailable.ts';
import type { AuditEntry, Audited } from '../../domain/audit-entry.ts';
import type { AuditPage } from '../../ports/audit-log.ts';
import { expect } from '../expect.ts';
import { created, DE, dictionary } from './dictionaries-under-test.ts';
import { freshKey, GENEROUS_QUOTA, newId, PREPAID } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const BY: Audited = { actor: 'cli:ada@host', action: 'updateTeam' };
const FIRST: Omit<AuditPage, 'teamId'> = { after: undefined, sinceMs: undefined, limit: 100 };
const DAY_MS = 86_400_000;

export function auditContract(it: AddStoreCase, subject: Subject): void {
  const entriesOf = async (teamId: string, page: Partial<AuditPage> = {}): Promise<readonly AuditEntry[]> =>
    answered(await subject.again.audit.page({ ...FIRST, teamId, ...page }));
  /** Omits what is the same in all of them. */
  const factsOf = (entries: readonly AuditEntry[]): unknown[] => entries.map(({ id: _id, atMs: _atMs, teamId: _teamId, ...rest }) => rest);
  const newTeam = { name: 'Acme', plan: 'test', limits: PREPAID, balanceMicro: 5_000_000 };
  const made = async (by: Audited = { ...BY, action: 'createTeam' }): Promise<string> => {
    const teamId = newId();
    answered(await subject.store.teams.createTeam({ ...newTeam, teamId }, by));
    return teamId;
  };

  it('every change is recorded with what it changed, newest first, by the store’s clock', async () => {
    const { teams } = subject.store;
    const startMs = subject.clock.nowMs();
    const reason = 'charged twice “in May”';
    const teamId = await made();
    subject.clock.step(1000);
    await teams.updateTeam(teamId, { name: 'Other', addMicro: 2_000_000 }, BY);
    await teams.updateTeam(teamId, { addMicro: -3_000_000 }, { ...BY, reason });
    const limits = { ...PREPAID, requestsPerSecond: 7 };
    await teams.updateTeam(teamId, { plan: { name: 'test', limits } }, { actor: 'console:ops@::1', action: 'applyPlan' });
    const key = freshKey(teamId, 'backend');
    await teams.createKey(key, { ...BY, action: 'createKey' });
    subject.clock.step(1000);
    await teams.revokeKey(key.keyId, { ...BY, action: 'revokeKey' });
    const entries = await entriesOf(teamId);
    const { display, label, mode } = key;
    expect(factsOf(entries)).toEqual([
      { ...BY, action: 'revokeKey', keyId: key.keyId, before: { status: 'active' }, after: { status: 'revoked' } },
      { ...BY, action: 'createKey', keyId: key.keyId, before: {}, after: { display, label, mode, status: 'active' } },
      { actor: 'console:ops@::1', action: 'applyPlan', keyId: undefined, before: { limits: PREPAID }, after: { limits } },
      { ...BY, reason, keyId: undefined, before: { balanceMicro: 7_000_000 }, after: { balanceMicro: 4_000_000 } },
      { ...BY, keyId: undefined, before: { name: 'Acme', balanceMicro: 5_000_000 }, after: { name: 'Other', balanceMicro: 7_000_000 } },
      { ...BY, action: 'createTeam', keyId: undefined, before: {}, after: newTeam },
    ]);
    expect(entries.map(({ atMs }) => atMs - startMs)).toEqual([2000, 1000, 1000, 1000, 1000, 0]);
    expect(entries.every((entry) => entry.teamId === teamId)).toBe(true);
  });

  it('removal of a glossary by an operator is recorded, once; removal by its team is not', async ({ store, again }) => {
    const by = { ...BY, action: 'deleteGlossary' } as const;
    const [teamId, neighbour] = [await made(), await made()];
    const one = await created(store, teamId, dictionary(DE));
    const before = await entriesOf(teamId);
    subject.clock.step(1000);
    expect(await store.glossaries.remove(neighbour, one.glossaryId, by)).toBe(false);
    expect(await store.glossaries.remove(teamId, newId(), by)).toBe(false);
    const removals = [store, again, store, again].map(({ glossaries }) => glossaries.remove(teamId, one.glossaryId, by));
    expect((await Promise.all(removals)).filter((removed) => removed === true).length).toBe(1);
    const own = await created(store, teamId, dictionary(DE));
    expect(await again.glossaries.remove(teamId, own.glossaryId)).toBe(true);
    const [entry, ...others] = await entriesOf(teamId);
    const { glossaryId, name } = one;
    expect(factsOf([entry!])).toEqual([{ ...by, keyId: undefined, before: { glossaryId, name }, after: {} }]);
    expect([entry!.atMs, entry!.teamId]).toEqual([subject.clock.nowMs(), teamId]);
    expect(others).toEqual(before);
    expect((await entriesOf(neighbour)).length).toBe(1);
    expect(await subject.again.audit.forgetNames(teamId)).toBeUndefined();
    expect((await entriesOf(teamId))[0]!.before).toEqual({ glossaryId });
  });

  it('nothing is recorded for repeated, refused or ineffective changes, for unknown teams, or without `by`', async () => {
    const { teams } = subject.store;
    const teamId = await made();
    const key = freshKey(teamId);
    await teams.createKey(key, { ...BY, action: 'createKey' });
    await teams.revokeKey(key.keyId, { ...BY, action: 'revokeKey' });
    const once = { id: newId(), request: 'add' };
    await teams.updateTeam(teamId, { addMicro: 1, once }, BY);
    const before = await entriesOf(teamId);
    expect(before.length).toBe(4);
    await teams.createTeam({ ...newTeam, teamId, name: 'Repeated' }, BY);
    await teams.updateTeam(teamId, { addMicro: 1, once }, BY);
    await teams.updateTeam(teamId, { addMicro: 2, once: { ...once, request: 'other' } }, BY);
    await teams.updateTeam(teamId, { name: 'Acme', plan: { name: 'test', limits: PREPAID } }, BY);
    await teams.updateTeam(teamId, { addMicro: -9_000_000 }, BY);
    await teams.updateTeam(teamId, { addMicro: Number.MAX_SAFE_INTEGER - 1 }, BY);
    await teams.createKey(key, BY);
    await teams.updateKey(key.keyId, { label: key.label, disabled: true }, BY);
    await teams.revokeKey(key.keyId, BY);
    await teams.revokeKey(newId(), BY);
    await teams.updateTeam(newId(), { name: 'x' }, BY);
    await teams.createKey(freshKey(newId()), BY);
    await teams.updateTeam(teamId, { name: 'Quietly' });
    expect(await entriesOf(teamId)).toEqual(before);
  });

  it('pages, for one team or all, stay consistent whatever is added meanwhile', async ({ again }) => {
    const { teams } = subject.store;
    const [one, other] = [await made(), await made()];
    for (let i = 0; i < 5; i++) await teams.updateTeam(i % 2 === 0 ? one : other, { name: `Name ${i}` }, BY);
    const all = answered(await again.audit.page({ ...FIRST, teamId: undefined })).filter(
      ({ teamId }) => teamId === one || teamId === other,
    );
    const facts = all.map(({ teamId, after }) => `${String(after.name)} of ${teamId === one ? 'one' : 'other'}`);
    const later = ['Name 4 of one', 'Name 3 of other', 'Name 2 of one', 'Name 1 of other', 'Name 0 of one'];
    expect(facts).toEqual([...later, 'Acme of other', 'Acme of one']);
    const paged: AuditEntry[] = [];
    for (let page = all.slice(0, 1); page.length > 0;) {
      paged.push(...page);
      await teams.updateTeam(one, { name: `Later ${paged.length}` }, BY);
      page = [...answered(await again.audit.page({ ...FIRST, teamId: undefined, after: page.at(-1)!.id, limit: 2 }))].filter(
        ({ id }) => id >= all.at(-1)!.id,
      );
    }
    expect(paged).toEqual(all);
    const [, third] = await entriesOf(other, { limit: 2 });
    expect((await entriesOf(other, { after: third!.id })).map(({ id }) => id)).toEqual([all[5]!.id]);
  });

  it('a page can start at a given time, and expired entries are in none', async ({ again }) => {
    const { teams } = subject.store;
    const teamId = await made();
    subject.clock.step(5000);
    const sinceMs = subject.clock.nowMs();
    await teams.updateTeam(teamId, { name: 'Since' }, BY);
    expect((await entriesOf(teamId, { sinceMs })).map(({ after }) => after.name)).toEqual(['Since']);
    expect((await entriesOf(teamId, { sinceMs: sinceMs + 1 })).length).toBe(0);
    expect((await entriesOf(teamId, { sinceMs: 0 })).length).toBe(2);
    subject.clock.step(400 * DAY_MS - 5000);
    expect((await entriesOf(teamId)).length).toBe(2);
    subject.clock.step(1);
    expect((await entriesOf(teamId)).map(({ after }) => after.name)).toEqual(['Since']);
    subject.clock.step(5000);
    expect(await entriesOf(teamId)).toEqual([]);
    expect(answered(await again.audit.page({ ...FIRST, teamId: undefined })).filter((entry) => entry.teamId === teamId)).toEqual([]);
  });

  it('names, and nothing else, are stripped from a team’s entries', async ({ again }) => {
    const { teams } = subject.store;
    const [teamId, neighbour] = [await made(), await made()];
    const key = freshKey(teamId, 'a label');
    await teams.createKey(key, { ...BY, action: 'createKey' });
    await teams.updateTeam(teamId, { name: 'Renamed', addMicro: -1 }, { ...BY, reason: 'Acme asked for it' });
    const [entries, others] = [await entriesOf(teamId), await entriesOf(neighbour)];
    expect(await again.audit.forgetNames(teamId)).toBeUndefined();
    const after = await entriesOf(teamId);
    for (const word of ['Acme', 'Renamed', 'a label', key.display]) expect(JSON.stringify(after).includes(word)).toBe(false);
    expect(factsOf(after)).toEqual([
      { ...BY, keyId: undefined, before: { balanceMicro: 5_000_000 }, after: { balanceMicro: 4_999_999 } },
      { ...BY, action: 'createKey', keyId: key.keyId, before: {}, after: { mode: key.mode, status: 'active' } },
      { ...BY, action: 'createTeam', keyId: undefined, before: {}, after: { plan: 'test', limits: PREPAID, balanceMicro: 5_000_000 } },
    ]);
    expect(after.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect(await again.audit.forgetNames(teamId)).toBeUndefined();
    expect(await entriesOf(teamId)).toEqual(after);
    expect(await entriesOf(neighbour)).toEqual(others);
  });

  it('entries of another store are inserted unchanged, once', async ({ again }) => {
    const teamId = newId();
    const nowMs = subject.clock.nowMs();
    const entry = (atMs: number, name: string): AuditEntry => ({
      ...BY,
      id: `${String(atMs).padStart(15, '0')}${'7'.padStart(16, '0')}`,
      atMs,
      teamId,
      keyId: undefined,
      before: {},
      after: { name, limits: GENEROUS_QUOTA },
    });
    const entries = [entry(nowMs - 1234, 'later'), entry(nowMs - 5678, 'earlier')];
    expect(await again.audit.restore(entries)).toBeUndefined();
    expect(await again.audit.restore([{ ...entries[0]!, after: { name: 'otherwise' } }])).toBeUndefined();
    expect(await entriesOf(teamId)).toEqual(entries);
    const all = answered(await again.audit.page({ ...FIRST, teamId: undefined }));
    expect(all.filter((one) => one.teamId === teamId)).toEqual(entries);
  });
}
