// lingate invoices: what each period of a team that was closed in a month comes to; streamed, so that the amount does not matter.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { INVOICE_CSV_HEAD, invoiceCsvLines } from '../../admin/invoice-csv.ts';
import { readInvoiceRange } from '../../admin/invoice-question.ts';
import type { InvoiceQuestion } from '../../admin/invoice-question.ts';
import { InvoiceReading } from '../../admin/invoice-reading.ts';
import type { InvoiceRow } from '../../admin/invoice-rows.ts';
import { InvoiceTotals } from '../../admin/invoice-totals.ts';
import type { InvoiceTotal } from '../../admin/invoice-totals.ts';
import { amountText } from '../../domain/currency.ts';
import type { Command, CommandContext } from '../command.ts';
import { UsageError } from '../command.ts';
import { given, readTeam } from '../operand.ts';
import { valueOf, withStore } from '../with-store.ts';

export const invoices: Command = {
  usage: '--month M | --from D --to D [--team TEAM] [--open] [--csv]',
  about:
    'A period belongs to the month that its last moment is in; a closed one without use that moved no credit has no line. Amounts in CSV and JSON are whole minor units of the currency, ' +
    'rounded down once; what a kind of plan does not have is empty, in JSON null. CSV cells that a spreadsheet would run as ' +
    'formulas get an apostrophe in front.',
  flags: {
    month: { kind: 'text', value: 'M', summary: 'the month (UTC), for example 2026-11' },
    from: { kind: 'text', value: 'D', summary: 'instead of a month: the first day (UTC)' },
    to: { kind: 'text', value: 'D', summary: 'the last day (inclusive)' },
    team: { kind: 'text', value: 'TEAM', summary: 'only this team', fallback: 'all teams' },
    open: { kind: 'switch', summary: 'also periods that are not closed, as they are now' },
    csv: { kind: 'switch', summary: 'write CSV with a header line' },
  },
  examples: ['lingate invoices --month 2026-11', 'lingate invoices --month 2026-11 --csv > november.csv'],
  async run(context) {
    if (context.json && context.on('csv')) throw new UsageError('--csv and --json exclude each other; give one of them');
    const question = questionOf(context);
    const form = context.json ? jsonForm() : context.on('csv') ? CSV_FORM : textForm();
    await withStore(context, async ({ history }) => {
      let began = false;
      for await (const result of new InvoiceReading(history).walk(question)) {
        const { rows } = valueOf(result);
        // Not before the first result: if nothing can be read, standard output stays empty.
        if (!began) context.io.out(form.head);
        began = true;
        if (rows.length > 0) context.io.out(form.lines(rows.map(({ row }) => row)));
        // Whether the reader has closed the output is only known a moment after writing.
        await nextTurn();
        if (context.io.abandoned()) return;
      }
      context.io.out((began ? '' : form.head) + form.end());
    });
  },
};

function questionOf(context: CommandContext): InvoiceQuestion {
  const range = readInvoiceRange(context.text('month'), context.text('from'), context.text('to'));
  if (range === undefined) throw new UsageError('--month is missing, for example --month 2026-11; or give --from and --to');
  if ('fault' in range) {
    const value = context.text(range.field);
    throw new UsageError(`--${range.field}${value === undefined ? '' : ` ${JSON.stringify(value)}`} ${range.fault}`);
  }
  return { range, open: context.on('open'), teamId: given(context, 'team', readTeam) };
}

/** Writes rows as whole lines, so that a reader never sees a partial line for long. */
interface InvoiceWriter {
  readonly head: string;
  lines(rows: readonly InvoiceRow[]): string;
  end(): string;
}

const CSV_FORM: InvoiceWriter = { head: INVOICE_CSV_HEAD, lines: invoiceCsvLines, end: () => '' };

/** One document, with a row on each line. */
function jsonForm(): InvoiceWriter {
  let separator = '\n';
  return {
    head: '{"invoices":[',
    lines(rows) {
      const text = separator + rows.map((row) => JSON.stringify(row)).join(',\n');
      separator = ',\n';
      return text;
    },
    end: () => '\n]}\n',
  };
}

const DATE = 10;
const HEAD = [
  'FROM'.padEnd(DATE),
  'TO'.padEnd(DATE),
  'STATE ',
  'CHARACTERS'.padStart(15),
  'BEYOND PLAN'.padStart(15),
  'TOTAL'.padStart(18),
  'BALANCE'.padStart(18),
  'TEAM'.padEnd(26),
  'PLAN'.padEnd(12),
  'NAME (REFERENCE)',
].join('  ');

/** Columns of known width come first, because the widths of later rows are not known yet; then what each currency comes to. */
function textForm(): InvoiceWriter {
  const totals = new InvoiceTotals();
  return {
    head: `${HEAD}\n`,
    lines: (rows) => {
      totals.add(rows);
      return rows.map((row) => `${lineOf(row)}\n`).join('');
    },
    end: () => {
      const sums = totals.all();
      if (sums.length === 0) return 'No period was closed.\n';
      return sums.map(sumText).join('');
    },
  };
}

function sumText({ currency, lines, totalMinor }: InvoiceTotal): string {
  return `${lines === 1 ? 'one line' : `${lines} lines`}, ${amountText(totalMinor, currency)} ${currency}\n`;
}

function lineOf(row: InvoiceRow): string {
  const amount = (minor: number | null): string =>
    (minor === null ? '-' : `${amountText(minor, row.currency)} ${row.currency}`).padStart(18);
  return [
    row.period_start.slice(0, DATE),
    row.period_end.slice(0, DATE),
    row.closed ? 'closed' : 'open  ',
    String(row.character_count).padStart(15),
    (row.overage_characters === null ? '-' : String(row.overage_characters)).padStart(15),
    amount(row.total_minor),
    amount(row.balance_minor),
    row.team_id,
    row.plan.padEnd(12),
    (row.name ?? '(deleted)') + (row.reference === null ? '' : ` (${row.reference})`),
  ].join('  ');
}
