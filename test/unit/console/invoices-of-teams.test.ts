// The page of invoices tells live and test usage apart.
import { expect, test } from 'vitest';
import type { ConsoleParts, SignedInVisit } from '../../../src/console/console-route.ts';
import { INVOICE_ROUTES } from '../../../src/console/pages/invoices-of-teams.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { PeriodUse } from '../../../src/ports/usage-history.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { historyContext } from '../admin/history-context.ts';
import { writtenHistory, writtenTeam } from '../../support/written-history.ts';

const NOTHING = { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 };

async function shown(path: string, counts: Pick<PeriodUse, 'testCharacters' | 'allowanceUsed'>): Promise<string> {
  const period: PeriodUse = {
    number: 1,
    startMs: Date.UTC(2026, 10, 1),
    endMs: Date.UTC(2026, 11, 1),
    closed: true,
    plan: 'pro',
    limits: limitsOf(QUOTA_PLAN),
    characters: 3500,
    requests: 7,
    credit: NOTHING,
    ...counts,
  };
  const history = writtenHistory([writtenTeam({ name: 'Acme', days: {} }, 1)], [period]);
  const route = INVOICE_ROUTES.find((one) => one.path === path);
  if (route?.access !== 'signed-in') return expect.unreachable('a page without a session');
  const query = new URLSearchParams('month=2026-11');
  const visit = { request: { query }, nowMs: Date.UTC(2026, 11, 2) } as unknown as SignedInVisit;
  const answer = await route.handle(visit, { operations: { context: historyContext(history) } } as ConsoleParts);
  return 'content' in answer ? answer.content.main.text : expect.unreachable(answer.kind);
}

test.each(['/invoices', '/invoices/print'])('%s', async (path) => {
  expect(await shown(path, { testCharacters: 0, allowanceUsed: 0 })).not.toContain(' test');
  expect(await shown(path, { testCharacters: 1200, allowanceUsed: 0 })).toMatch(/3,500 <br \/><span class="soft">1,200 test<\/span>/);
  expect(await shown(path, { testCharacters: 1200, allowanceUsed: 1000 })).toContain('>1,200 test, 1,000 free</span>');
});
