// Shared secrets as rows: found or added in one transaction.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SharedSecrets } from '../../ports/shared-secrets.ts';
import type { GroupCommit } from './group-commit.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

const SQL = {
  clear: 'DELETE FROM shared_secrets WHERE until_ms <= ?',
  find: tuples<[secret: Uint8Array<ArrayBuffer>]>('SELECT secret FROM shared_secrets WHERE name = ?'),
  add: 'INSERT INTO shared_secrets (name, secret, until_ms) VALUES (?, ?, ?)',
};

export class SqliteSecrets implements SharedSecrets {
  readonly #group: GroupCommit;
  readonly #clock: Clock;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, group: GroupCommit, clock: Clock) {
    this.#group = group;
    this.#clock = clock;
    this.#sql = prepared(database, SQL);
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable> {
    return this.#group.run((nowMs) => {
      this.#sql.clear.run(nowMs);
      const found = this.#sql.find.get(name);
      if (found !== undefined) return found[0];
      this.#sql.add.run(name, candidate, nowMs + keepMs);
      return candidate;
    });
  }
}
