// Tags with settings in the SQLite ledger: the rules of stores/records/tag-uses.ts over their records, read and written by each
// operation of a request that carries such a tag.
import type { DatabaseSync } from 'node:sqlite';
import type { RequestTag } from '../../domain/request-tag.ts';
import { TagInStore } from '../records/windowed-tag.ts';
import { readTagSettings, TagUses } from '../../ledger/tag-uses.ts';
import type { TeamAccount } from './accounts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

const SQL = {
  limits: tuples<[value: string]>("SELECT value FROM records WHERE team = ? AND kind = 'tag_limits' AND id = ?"),
  uses: tuples<[value: string]>("SELECT value FROM records WHERE team = ? AND kind = 'tag_uses' AND id = ?"),
  keep: "INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, 'tag_uses', ?, ?)",
};

export class TagAccounts {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
  }

  /** A request's tag, if it has settings. */
  of(team: TeamAccount, tag: RequestTag | undefined, nowMs: number): TagInStore | undefined {
    if (tag === undefined) return undefined;
    const [settings] = this.#sql.limits.get(team.no, tag.name) ?? [];
    if (settings === undefined) return undefined;
    const uses = new TagUses(this.#sql.uses.get(team.no, tag.name)?.[0], team.counts.periodNo, nowMs);
    return new TagInStore(tag.name, readTagSettings(settings), uses);
  }

  keep(team: TeamAccount, { name, uses }: TagInStore): void {
    this.#sql.keep.run(team.no, name, uses.written());
  }

  /** Characters of a reservation with this ticket, made in that period, are not charged after all. */
  giveBack(team: TeamAccount, tag: string, ticket: number, periodNo: number, characters: number): void {
    const [text] = this.#sql.uses.get(team.no, tag) ?? [];
    if (text === undefined) return;
    const uses = new TagUses(text, team.counts.periodNo, 0);
    uses.giveBack(ticket, periodNo, characters);
    this.#sql.keep.run(team.no, tag, uses.written());
  }
}
