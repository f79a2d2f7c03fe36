// Charges by UTC day: the running day stands in the keys' own rows, which a commit writes anyway; a day that is over has rows of its own.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { dayOf } from '../../domain/period.ts';
import type { Books } from './books.ts';
import type { HistoryHooks } from './history-hooks.ts';
import type { KeyBooks, TeamBooks } from './team-books.ts';

/** No day is being counted. */
const NONE = 0;

export class DayCounts {
  readonly #books: Books;
  readonly #hooks: HistoryHooks;
  readonly #keep: StatementSync;
  readonly #reset: StatementSync;
  readonly #enter: StatementSync;

  constructor(database: DatabaseSync, books: Books, hooks: HistoryHooks) {
    this.#books = books;
    this.#hooks = hooks;
    // Added to, where the clock has stepped back to a day that was written away.
    this.#keep = database.prepare(`INSERT INTO usage_days (team, day, key, characters, requests)
      SELECT team, ?, key, day_characters, day_requests FROM key_books WHERE team = ? AND day_requests > 0
      ON CONFLICT (team, day, key) DO UPDATE SET characters = characters + excluded.characters, requests = requests + excluded.requests`);
    this.#reset = database.prepare('UPDATE key_books SET day_characters = 0, day_requests = 0 WHERE team = ? AND day_requests > 0');
    this.#enter = database.prepare('UPDATE books SET day = ? WHERE team = ?');
  }

  /** Counts a charge. The caller has the key's row written. */
  count({ team, counts }: KeyBooks, characters: number, nowMs: number): void {
    const day = dayOf(nowMs);
    if (day !== team.counts.day) this.#turn(team, day, nowMs);
    counts.dayCharacters += characters;
    counts.dayRequests++;
  }

  /** Writes a team's day away if it is over. */
  finish(team: TeamBooks, nowMs: number): void {
    const { day } = team.counts;
    if (day !== NONE && day < dayOf(nowMs)) this.#turn(team, NONE, nowMs);
  }

  /** Writes a team's day away, over or not: the team is deleted, and its usage stays. */
  leave(team: TeamBooks, nowMs: number): void {
    if (team.counts.day !== NONE) this.#turn(team, NONE, nowMs);
  }

  /** From one day to the next, or, with a clock that has stepped back, to an earlier one: nothing that was counted is lost. */
  #turn(team: TeamBooks, day: number, nowMs: number): void {
    const before = team.counts.day;
    if (before !== NONE) {
      this.#books.flush();
      this.#keep.run(before, team.no);
      this.#reset.run(team.no);
      for (const { counts } of team.keys.values()) Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });
    }
    this.#enter.run(day, team.no);
    team.counts.day = day;
    if (before !== NONE && before < dayOf(nowMs)) this.#hooks.dayFinished(team, before, nowMs);
  }
}
