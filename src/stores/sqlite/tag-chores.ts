// The janitor's part for tags: drops what was counted longer ago than it is kept, and what was used of settings that were removed. Goes
// over the tags of all teams once a day, a page at a time.
import type { DatabaseSync } from 'node:sqlite';
import { dayOf } from '../../domain/period.ts';
import { readTagCount } from '../../ledger/tag-account.ts';
import { tagDaysSince } from '../records/tag-counts.ts';
import { isLeftBehind } from '../../ledger/tag-uses.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

/** Tags per batch: takes a few milliseconds while callers wait. */
const TAGS_MAX = 250;

type PageRow = [tag: string, team: number, value: string, other: string | null];

/** A page of a table, with the record that another has of each tag. */
const pageOf = (table: TagTable, other: TagTable) =>
  tuples<PageRow>(`SELECT r.id, r.team, r.value, o.value FROM records r
    LEFT JOIN records o ON o.team = r.team AND o.kind = '${other}' AND o.id = r.id
    WHERE r.kind = '${table}' AND (r.id, r.team) > (?, ?) ORDER BY r.id, r.team LIMIT ${TAGS_MAX}`);

const SQL = {
  counted: pageOf('tag_counts', 'tag_days'),
  used: pageOf('tag_uses', 'tag_limits'),
  put: 'UPDATE records SET value = ? WHERE team = ? AND kind = ? AND id = ?',
  remove: 'DELETE FROM records WHERE team = ? AND kind = ? AND id = ?',
};

const PASSES = ['counted', 'used'] as const;
const START = ['', 0] as const;

interface Dropped {
  readonly table: TagTable;
  readonly team: number;
  readonly tag: string;
  /** What is left, if anything is. */
  readonly left?: string;
}

/** What a page has to lose, and after which tag the next one begins; `undefined` after the last one. */
interface TagPage {
  readonly dropped: readonly Dropped[];
  readonly last: readonly [tag: string, team: number] | undefined;
}

export class TagChores {
  readonly #keptDays: number;
  readonly #sql: Statements<typeof SQL>;
  /** The day on which it goes over the tags, the pass, and the last tag that it has dealt with. */
  #at: { readonly day: number; readonly pass: number; readonly after: readonly [tag: string, team: number] } = {
    day: 0,
    pass: 0,
    after: START,
  };

  constructor(database: DatabaseSync, keptDays: number) {
    this.#keptDays = keptDays;
    this.#sql = prepared(database, SQL);
  }

  /** Whether there are tags that it has not gone over today. */
  get hasMore(): boolean {
    return this.#at.pass < PASSES.length;
  }

  /** Whether the next page has anything to lose; only reads. */
  look(nowMs: number): boolean {
    const day = dayOf(nowMs);
    if (this.#at.day !== day) this.#at = { day, pass: 0, after: START };
    if (!this.hasMore) return false;
    const page = this.#page(nowMs);
    if (page.dropped.length > 0) return true;
    this.#pass(page);
    return false;
  }

  /** Drops what the page that was looked at has to lose. Call it within a transaction. */
  run(nowMs: number): void {
    if (!this.hasMore) return;
    const page = this.#page(nowMs);
    for (const { table, team, tag, left } of page.dropped) {
      if (left === undefined) this.#sql.remove.run(team, table, tag);
      else this.#sql.put.run(left, team, table, tag);
    }
    this.#pass(page);
  }

  #pass({ last }: TagPage): void {
    const { day, pass } = this.#at;
    this.#at = last === undefined ? { day, pass: pass + 1, after: START } : { day, pass, after: last };
  }

  #page(nowMs: number): TagPage {
    const pass = PASSES[this.#at.pass]!;
    const rows = this.#sql[pass].all(...this.#at.after);
    const first = dayOf(nowMs) - this.#keptDays;
    const dropped = rows.flatMap((row) => (pass === 'counted' ? droppedOfCounts(row, first) : droppedOfUses(row, nowMs)));
    const [tag, team] = rows.at(-1) ?? START;
    return { dropped, last: rows.length < TAGS_MAX ? undefined : [tag, team] };
  }
}

/** Days before `first`, and a tag of which nothing is left. */
function droppedOfCounts([tag, team, count, days]: PageRow, first: number): readonly Dropped[] {
  const left = days === null ? '' : tagDaysSince(days, first);
  const dropped: Dropped[] = [];
  if (days !== null && left !== days) dropped.push({ table: 'tag_days', team, tag, ...(left === '' ? {} : { left }) });
  if (left === '' && readTagCount(count)!.day < first) dropped.push({ table: 'tag_counts', team, tag });
  return dropped;
}

function droppedOfUses([tag, team, uses, settings]: PageRow, nowMs: number): readonly Dropped[] {
  return settings === null && isLeftBehind(uses, nowMs) ? [{ table: 'tag_uses', team, tag }] : [];
}
