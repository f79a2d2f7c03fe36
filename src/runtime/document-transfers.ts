// Files of documents that are on their way in or out of one process: each is in memory as a whole, so their number is limited.
import type { DocumentTransfers } from '../ports/documents.ts';

/** Of one process, and of one team: a slow caller keeps its place for as long as it takes. */
const TRANSFERS_MAX = 16;
const TRANSFERS_OF_TEAM_MAX = 8;

export class LimitedTransfers implements DocumentTransfers {
  readonly #byTeam = new Map<string, number>();
  #open = 0;

  begin(teamId: string): boolean {
    const own = this.#byTeam.get(teamId) ?? 0;
    if (this.#open >= TRANSFERS_MAX || own >= TRANSFERS_OF_TEAM_MAX) return false;
    this.#open++;
    this.#byTeam.set(teamId, own + 1);
    return true;
  }

  end(teamId: string): void {
    const left = this.#byTeam.get(teamId)! - 1;
    this.#open--;
    if (left > 0) this.#byTeam.set(teamId, left);
    else this.#byTeam.delete(teamId);
  }
}
