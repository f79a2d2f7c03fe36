// Tags with settings in the SQLite ledger: the rules of stores/records/tag-uses.ts over their records, read and written by each
// operation of a request that carries such a tag.
import type { DatabaseSync } from 'node:sqlite';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { TagSettings } from '../../domain/tag-settings.ts';
import type { CallerRefusal, Placed, RateStanding } from '../../ports/ledger.ts';
import { readTagSettings, TagUses } from '../records/tag-uses.ts';
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
  of(team: TeamAccount, tag: RequestTag | undefined, nowMs: number): TagAccount | undefined {
    if (tag === undefined) return undefined;
    const [settings] = this.#sql.limits.get(team.no, tag.name) ?? [];
    if (settings === undefined) return undefined;
    const uses = new TagUses(this.#sql.uses.get(team.no, tag.name)?.[0], team.counts.periodNo, nowMs);
    return new TagAccount(tag.name, readTagSettings(settings), uses);
  }

  keep(team: TeamAccount, { name, uses }: TagAccount): void {
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

export class TagAccount {
  readonly name: string;
  readonly settings: TagSettings;
  readonly uses: TagUses;
  #taken = 0;

  constructor(name: string, settings: TagSettings, uses: TagUses) {
    this.name = name;
    this.settings = settings;
    this.uses = uses;
  }

  get windows(): string | undefined {
    return this.settings.windows;
  }

  get counts(): TagUses['counts'] {
    return this.uses.counts;
  }

  /** `expiresAtMs`: the key's. Must be kept, whatever the answer: slots that moved with the clock must stay so. */
  rateRefusal(nowMs: number, expiresAtMs = Infinity): Extract<CallerRefusal, { kind: 'rate_limited' }> | undefined {
    const limit = this.settings.requestsPerSecond;
    const retryAfterMs = limit === undefined ? 0 : this.uses.waitMs(limit, nowMs);
    if (limit === undefined || retryAfterMs === 0) return undefined;
    const fullForMs = Math.max(0, Math.min(retryAfterMs, expiresAtMs - nowMs) - 1);
    return { kind: 'rate_limited', limit, retryAfterMs, fullForMs, of: 'tag' };
  }

  /** Of a request that was counted in its windows, with the characters that it reserves. */
  takePlace(characters: number, nowMs: number): void {
    this.uses.period.characters += characters;
    if (this.settings.requestsPerSecond !== undefined) this.#taken = this.uses.takeSlot(nowMs);
  }

  /** Judged after the characters of the key. */
  refusal({ counts }: TeamAccount, characters: number): Placed | undefined {
    const characterLimit = this.settings.characters;
    if (characterLimit === undefined || this.uses.period.characters + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: counts.periodEndMs, of: 'tag' };
  }

  /** The state of the tag's own rate, if it has fewer free slots. */
  nearer(rate: RateStanding): RateStanding {
    const limit = this.settings.requestsPerSecond;
    if (limit === undefined) return rate;
    const remaining = limit - this.#taken;
    return remaining < rate.remaining ? { limit, remaining, of: 'tag' } : rate;
  }
}
