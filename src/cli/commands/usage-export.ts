// lingate usage export: the usage of all teams by day, month or in total; streamed, so that the amount does not matter.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { usageCsv } from '../../admin/usage-csv.ts';
import { isSpan } from '../../admin/usage-question.ts';
import { UsageReading } from '../../admin/usage-reading.ts';
import type { UsageQuestion, UsageRow } from '../../admin/usage-rows.ts';
import { readDayRange, USAGE_SPANS } from '../../domain/usage-days.ts';
import type { Command, CommandContext, Io } from '../command.ts';
import { UsageError } from '../command.ts';
import { given, readTeam } from '../operand.ts';
import { valueOf, withStore } from '../with-store.ts';

export const usageExport: Command = {
  usage: '--from D --to D [--by day|month|total] [--keys | --tags] [--team TEAM] [--csv]',
  about:
    'Days are UTC; first and last are included, at most 400 days. There are no lines without usage. CSV cells that a ' +
    'spreadsheet would run as formulas get an apostrophe in front.',
  flags: {
    from: { kind: 'text', value: 'D', summary: 'the first day, for example 2026-11-01', required: true },
    to: { kind: 'text', value: 'D', summary: 'the last day (inclusive)', required: true },
    by: { kind: 'text', value: 'SPAN', summary: `the span of one line: ${USAGE_SPANS.join(', ')}`, fallback: 'day' },
    keys: { kind: 'switch', summary: 'one line for each key' },
    tags: { kind: 'switch', summary: 'one line for each tag, and one for requests without a tag' },
    team: { kind: 'text', value: 'TEAM', summary: 'only this team', fallback: 'all teams' },
    csv: { kind: 'switch', summary: 'write CSV with a header line' },
  },
  examples: [
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by total',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --keys --csv > november.csv',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by month --tags --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  ],
  async run(context) {
    if (context.json && context.on('csv')) throw new UsageError('--csv and --json exclude each other; give one of them');
    if (context.on('keys') && context.on('tags')) throw new UsageError('--keys and --tags exclude each other; give one of them');
    const question = questionOf(context);
    const form = context.json ? jsonForm() : context.on('csv') ? csvForm(question) : textForm(question);
    await withStore(context, async ({ history, tags }) => {
      const progress = new Progress(context.io);
      let [began, rows] = [false, 0];
      try {
        for await (const result of new UsageReading(history, tags).walk(question)) {
          const part = valueOf(result);
          // Not before the first result: if nothing can be read, standard output stays empty.
          if (!began) context.io.out(form.head);
          began = true;
          if (part.rows.length > 0) context.io.out(form.lines(part.rows));
          rows += part.rows.length;
          progress.show(part.teams);
          // Whether the reader has closed the output is only known a moment after writing.
          await nextTurn();
          if (context.io.abandoned()) return;
        }
      } finally {
        progress.end();
      }
      context.io.out((began ? '' : form.head) + form.end(rows));
    });
  },
};

function questionOf(context: CommandContext): UsageQuestion {
  const range = readDayRange(context.required('from'), context.required('to'));
  if (range === undefined || 'fault' in range) {
    const field = range?.field ?? 'from';
    throw new UsageError(`--${field} ${JSON.stringify(context.required(field))} ${range?.fault ?? ''}`);
  }
  const by = context.text('by') ?? 'day';
  if (!isSpan(by)) throw new UsageError(`--by ${JSON.stringify(by)} must be one of ${USAGE_SPANS.join(', ')}`);
  return { range, by, keys: context.on('keys'), tags: context.on('tags'), teamId: given(context, 'team', readTeam) };
}

/** Writes rows as whole lines, so that a reader never sees a partial line for long. */
interface RowWriter {
  readonly head: string;
  lines(rows: readonly UsageRow[]): string;
  /** `rows` is how many were written. */
  end(rows: number): string;
}

function csvForm(question: UsageQuestion): RowWriter {
  return { ...usageCsv(question), end: () => '' };
}

/** One document, with a row on each line. */
function jsonForm(): RowWriter {
  let separator = '\n';
  return {
    head: '{"usage":[',
    lines(rows) {
      const text = separator + rows.map((row) => JSON.stringify(row)).join(',\n');
      separator = ',\n';
      return text;
    },
    end: () => '\n]}\n',
  };
}

/** Longer tags move the rest of their line. */
const TAG_WIDTH = 20;

/** Columns of known width come first, because the widths of later rows are not known yet. */
function textForm({ by, keys, tags = false }: UsageQuestion): RowWriter {
  const date = { day: 'DAY'.padEnd(12), month: 'MONTH'.padEnd(9), total: '' }[by];
  const columns = `${date}${'CHARACTERS'.padStart(15)}  ${'REQUESTS'.padStart(11)}  ${'TEAM'.padEnd(26)}  ${'PLAN'.padEnd(12)}`;
  const keyColumns = keys ? `  ${'KEY'.padEnd(26)}  ${'BEGINS WITH'.padEnd(12)}  MODE` : '';
  return {
    head: `${columns}${keyColumns}${tags ? `  ${'TAG'.padEnd(TAG_WIDTH)}` : ''}  NAME (REFERENCE)${keys ? ', LABEL' : ''}\n`,
    lines: (rows) => rows.map((row) => `${lineOf(row)}\n`).join(''),
    end: (rows) => (rows === 0 ? 'Nothing was used.\n' : ''),
  };
}

function lineOf({ team_id: id, name, plan, date, character_count: characters, request_count: requests, ...key }: UsageRow): string {
  const when = date === null ? '' : `${date}  `;
  const counts = `${String(characters).padStart(15)}  ${String(requests).padStart(11)}`;
  const ofKey = key.key_id === undefined ? '' : `  ${key.key_id}  ${key.display}  ${key.mode}`;
  const label = key.label === undefined || key.label === '' ? '' : `, ${key.label}`;
  const reference = key.reference === undefined ? '' : ` (${key.reference})`;
  const ofTag = key.tag === undefined ? '' : `  ${(key.tag ?? '-').padEnd(TAG_WIDTH)}`;
  return `${when}${counts}  ${id}  ${plan.padEnd(12)}${ofKey}${ofTag}  ${name}${reference}${label}`;
}

const LINE_TEAMS = 25_000;
const TERMINAL_MS = 200;

/** Progress on standard error: a counter at a terminal that shows nothing else, otherwise a line now and then. */
class Progress {
  readonly #io: Io;
  #shownAtMs: number;
  #lines = 0;
  #counted = '';

  constructor(io: Io) {
    this.#io = io;
    this.#shownAtMs = io.nowMs();
  }

  show(teams: number): void {
    if (this.#io.watched) this.#count(teams);
    else this.#line(teams);
  }

  /** Clears the counter. */
  end(): void {
    if (this.#counted !== '') this.#io.err(`\r${' '.repeat(this.#counted.length)}\r`);
  }

  #count(teams: number): void {
    const nowMs = this.#io.nowMs();
    if (this.#io.shown || nowMs - this.#shownAtMs < TERMINAL_MS) return;
    this.#shownAtMs = nowMs;
    this.#counted = `${teams} teams`;
    this.#io.err(`\r${this.#counted}`);
  }

  #line(teams: number): void {
    const lines = Math.floor(teams / LINE_TEAMS);
    if (lines > this.#lines) this.#io.err(`lingate usage export: ${teams} teams\n`);
    this.#lines = lines;
  }
}
