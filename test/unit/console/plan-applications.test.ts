// Applying a plan continues in the background: one run at a time, with its progress, and with the reason if it stopped.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PlanApplied, PlanApplyOptions } from '../../../src/admin/plan-operations.ts';
import type { AdminResult } from '../../../src/admin/admin-result.ts';
import { PlanApplications } from '../../../src/console/plan-applications.ts';

type Progress = (changed: number, behind: number) => void;

/** Operations that the test ends itself. */
function operationsOf() {
  const runs: { readonly end: (result: AdminResult<PlanApplied>) => void; readonly progress: Progress }[] = [];
  const apply = (_name: string, { onProgress: progress = () => undefined }: PlanApplyOptions = {}): Promise<AdminResult<PlanApplied>> =>
    new Promise((resolve) => {
      runs.push({ end: resolve, progress });
    });
  const applications = new PlanApplications(() => 42);
  const start = applications.start.bind(applications, { plans: { apply } });
  return { runs, applications, start };
}

const APPLIED: PlanApplied = { plan: 'pro', teams: 9, changed: 3, changes: [], dearer: { teams: 0, minor: 0 } };

test('a quick run is answered with its result', async () => {
  const { runs, applications, start } = operationsOf();
  const told: PlanApplied[] = [];
  const started = start('pro', (applied) => void told.push(applied));
  await turn();
  runs[0]!.end({ kind: 'done', value: APPLIED });
  expect(await started).toEqual({ kind: 'done', applied: APPLIED, atMs: 42 });
  expect([told, applications.of('pro')?.kind, applications.of('free')]).toEqual([[APPLIED], 'done', undefined]);
});

test('a longer run is answered with its progress, is not started twice, and ends in the background', async () => {
  const { runs, applications, start } = operationsOf();
  const started = start('pro', () => undefined);
  await turn();
  runs[0]!.progress(2, 5000);
  expect(await started).toEqual({ kind: 'running', changed: 2, behind: 5000 });
  expect(await start('pro', () => undefined)).toEqual({ kind: 'running', changed: 2, behind: 5000 });
  expect(runs).toHaveLength(1);
  runs[0]!.end({ kind: 'done', value: APPLIED });
  await turn();
  expect(applications.of('pro')).toEqual({ kind: 'done', applied: APPLIED, atMs: 42 });
});

test('a run that the store stopped reports how far it came, and can be started again', async () => {
  const { runs, start } = operationsOf();
  const started = start('pro', () => undefined);
  await turn();
  runs[0]!.progress(7, 10);
  runs[0]!.end({ kind: 'unavailable', cause: 'connect' });
  expect(await started).toEqual({ kind: 'stopped', changed: 7, atMs: 42 });
  const again = start('pro', () => undefined);
  await turn();
  runs[1]!.end({ kind: 'done', value: APPLIED });
  expect((await again).kind).toBe('done');
});

test('an unknown plan leaves nothing behind', async () => {
  const { runs, applications, start } = operationsOf();
  const started = start('none', () => undefined);
  await turn();
  runs[0]!.end({ kind: 'no_such_plan', plan: 'none', plans: ['pro'] });
  expect((await started).kind).toBe('no_such_plan');
  expect(applications.of('none')).toBeUndefined();
});
