// Notifies plugins of deleted teams: each audit entry once, also a late one, and again until the plugin has succeeded.
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditId } from '../../../src/domain/audit-entry.ts';
import type { AuditAction, AuditEntry } from '../../../src/domain/audit-entry.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { AuditPage } from '../../../src/ports/audit-log.ts';
import { Forgetting } from '../../../src/runtime/forgetting.ts';
import { SILENT } from '../../support/silent-log.ts';

const START_MS = 1_000_000_000;

function scene() {
  const entries: AuditEntry[] = [];
  const forgotten: (string | undefined)[] = [];
  const warnings: string[] = [];
  const state = { away: false, broken: false, failing: false };
  const audit = {
    page: async ({ after, sinceMs = 0, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> => {
      if (state.broken) throw new Error('a bug of the store');
      if (state.away) return { kind: 'unavailable', cause: 'away' };
      const newestFirst = entries.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      return newestFirst.filter(({ id, atMs }) => atMs >= sinceMs && (after === undefined || id < after)).slice(0, limit);
    },
  };
  const plugin = {
    plugin: 'memory',
    forget: async (teamId: string | undefined) => {
      if (state.failing) throw new Error('away');
      forgotten.push(teamId);
    },
  };
  const forgetting = new Forgetting({
    audit,
    plugins: [plugin],
    log: { ...SILENT, warn: (message) => warnings.push(message) },
    nowMs: () => START_MS,
  });
  onTestFinished(() => forgetting.close());
  const change = (action: AuditAction, teamId: string | undefined, laterMs: number): void => {
    const atMs = START_MS + laterMs;
    const id = auditId(atMs, entries.length);
    entries.push({ id, atMs, action, actor: 'cli:a@b', teamId, keyId: undefined, before: {}, after: {} });
  };
  return { state, forgotten, warnings, forgetting, change };
}

describe('plugins drop what they remember', () => {
  test('of deleted or cleared teams, and of all teams, once each time, and of no other team', async () => {
    const { forgetting, forgotten, change } = scene();
    change('deleteTeam', 'gone before we started', -120_000);
    change('updateTeam', 'A', 1);
    change('deleteTeam', 'B', 2);
    await forgetting.look();
    await forgetting.look();
    expect(forgotten).toEqual(['B']);
    change('clearMemory', 'A', 3);
    change('clearMemory', undefined, 4);
    change('clearMemory', 'A', 5);
    await forgetting.look();
    expect(forgotten).toEqual(expect.arrayContaining(['A', 'B', undefined]));
    expect(forgotten).toHaveLength(4);
  });

  test('also if an entry arrives late, or with so many others that they fill pages', async () => {
    const { forgetting, forgotten, change } = scene();
    for (let i = 0; i < 450; i++) change('createKey', 'K', i + 50_000);
    await forgetting.look();
    change('deleteTeam', 'late', 1);
    for (let i = 0; i < 450; i++) change('createKey', 'K', i + 55_000);
    await forgetting.look();
    expect(forgotten).toEqual(['late']);
  });

  test('also after an entry of a process whose clock is ahead', async () => {
    const { forgetting, forgotten, change } = scene();
    change('clearMemory', 'A', 3_600_000);
    await forgetting.look();
    change('deleteTeam', 'B', 10);
    await forgetting.look();
    await forgetting.look();
    expect(forgotten).toEqual(['A', 'B']);
  });

  test('once the store is back, and once the plugin no longer fails', async () => {
    const { forgetting, forgotten, warnings, change, state } = scene();
    change('deleteTeam', 'A', 1);
    state.away = true;
    await forgetting.look();
    state.broken = true;
    await forgetting.look();
    await forgetting.look();
    expect(warnings).toEqual([expect.stringContaining('the audit cannot be read')]);
    state.broken = false;
    state.away = false;
    state.failing = true;
    await forgetting.look();
    await forgetting.look();
    expect(forgotten).toEqual([]);
    state.failing = false;
    await forgetting.look();
    await forgetting.look();
    expect(forgotten).toEqual(['A']);
  });
});
