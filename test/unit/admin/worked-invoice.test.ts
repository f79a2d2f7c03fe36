// The manual's worked example of a billing month: a store that is used as it says comes to the amounts that it shows.
import { afterEach, expect, test } from 'vitest';
import { INVOICE_COLUMNS, listInvoices } from '../../../src/admin/operations/invoices.ts';
import type { InvoiceRow } from '../../../src/admin/operations/invoices.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA, PREPAID, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { allRowsOf } from './history-context.ts';
import { manualPage, manualSection } from '../../support/manual.ts';
import { sqliteFile } from '../stores/sqlite/sqlite-file.ts';

const SECTION = manualSection('usage', 'On the first: the invoices');
const MONTHLY = { period: 'P1M@calendar', maxCharactersPerRequest: 2_000_000 } as const;
const file = sqliteFile();
afterEach(() => file.remove());

/** The cells of the manual's row with this name. */
function shown(name: string): string[] {
  const row = SECTION.split('\n').find((line) => line.startsWith(`| ${name} |`));
  return row!
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

test('two customers in November', async () => {
  const clock = new MovableClock();
  clock.set(Date.parse('2026-11-09T10:00:00Z'));
  const store = await file.open({ clock });
  const overage = { characterLimit: 1_000_000, overageCapMinor: 10_000, overageCharacters: 5_000_000, minorPerMillion: 2000 };
  const acme = await teamUnderTest(store, { ...GENEROUS_QUOTA, ...MONTHLY, ...overage });
  const press = await teamUnderTest(store, { ...PREPAID, ...MONTHLY, minorPerMillion: 2500 }, 5_000_000_000);
  await acme.use(1_250_750);
  await press.use(700_001);
  clock.set(Date.parse('2026-12-01T00:00:00Z'));
  const rows = await allRowsOf<InvoiceRow>(listInvoices, store.history, { month: '2026-11' });
  const [quota, credit] = rows;
  expect(shown('used')).toEqual([quota, credit].map((row) => `${row!.character_count.toLocaleString('en')} characters`));
  expect(shown('beyond the plan')[0]).toBe(`${quota!.overage_characters!.toLocaleString('en')} characters`);
  expect(shown('`total_minor`')).toEqual([String(quota!.total_minor), String(credit!.total_minor)]);
  expect(shown('credit left')[1]).toMatch(new RegExp(`\`balance_minor\` ${credit!.balance_minor}$`));
  expect([quota!.closed, credit!.closed, rows.length]).toEqual([true, true, 2]);
});

test('the manual has every column', () => {
  expect(INVOICE_COLUMNS.filter((name) => !manualPage('usage').includes(`\`${name}\``))).toEqual([]);
});
