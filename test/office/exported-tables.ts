// LibreOffice opens the CSV of usage and invoices as a user does: no cell becomes a formula, and every number is the one that we wrote.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csvOf as csvOfColumns } from '../../src/admin/csv.ts';
import { INVOICE_COLUMNS, invoiceRow } from '../../src/admin/operations/invoices.ts';
import { usageColumns } from '../../src/admin/operations/usage.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { writtenTeam } from '../support/written-history.ts';

const TEXTS = ['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1+1', '\r=1+1', ' =1+1', '"=1+1', 'a;=1+1', "'=1+1", 'two\r\nlines', 'a, "b"'];
const { team } = writtenTeam({ name: '', days: {} }, 1);
const CREDIT = { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 };
/** Larger than what 32 bits or a spreadsheet's shown digits hold. */
const CHARACTERS = 1_234_567_890_123;

const period = {
  number: 1,
  startMs: Date.UTC(2026, 10, 1),
  endMs: Date.UTC(2026, 11, 1),
  closed: true,
  plan: 'pro',
  limits: limitsOf(QUOTA_PLAN),
  characters: CHARACTERS,
  allowanceUsed: 0,
  testCharacters: 0,
  requests: 7,
  credit: CREDIT,
};
const usage = TEXTS.map((text) => ({
  team_id: team.teamId,
  name: text,
  plan: 'pro',
  date: '2026-11-22',
  character_count: CHARACTERS,
  request_count: 7,
  test_character_count: 3,
  reference: text,
  key_id: team.teamId,
  display: 'la_live_Ab3d',
  label: text,
  mode: 'live' as const,
  tag: text,
}));

function csvOf(asked: Parameters<typeof usageColumns>[0]): string {
  const { head, lines } = csvOfColumns(usageColumns(asked));
  return head + lines(usage);
}

const FILES = {
  invoices:
    csvOfColumns(INVOICE_COLUMNS).head +
    csvOfColumns(INVOICE_COLUMNS).lines(TEXTS.map((text) => invoiceRow({ ...team, name: text, reference: text }, false, period))),
  teams: csvOf({ keys: false }),
  keys: csvOf({ keys: true }),
  tags: csvOf({ keys: false, tags: true }),
  // What it would be without protection, so that a LibreOffice that runs nothing is noticed.
  unprotected: 'name,character_count\r\n=1+1,1\r\n',
} as const;

/** `converted` has LibreOffice convert all files of a folder. Returns what is wrong. */
export async function exportedTables(
  folder: string,
  converted: (from: string, ending: string, to: string) => Promise<string>,
): Promise<string[]> {
  const from = join(folder, 'tables');
  await mkdir(from, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(from, `${name}.csv`), text);
  const to = await converted(from, 'fods', `${from}-shown`);
  const faults: string[] = [];
  for (const name of Object.keys(FILES)) {
    const shown = await readFile(join(to, `${name}.fods`), 'utf8').catch(() => '');
    const formulas = [...shown.matchAll(/table:formula="([^"]*)"/g)].map(([, formula]) => formula);
    if (name === 'unprotected') {
      if (formulas.length === 0) faults.push('LibreOffice runs no formulas here, so this shows nothing');
      continue;
    }
    if (formulas.length > 0) faults.push(`${name}.csv: became formulas: ${formulas.join(' ')}`);
    const numbers = shown.split(`office:value="${CHARACTERS}"`).length - 1;
    if (numbers !== TEXTS.length) faults.push(`${name}.csv: ${numbers} of ${TEXTS.length} numbers are the same`);
  }
  return faults;
}
