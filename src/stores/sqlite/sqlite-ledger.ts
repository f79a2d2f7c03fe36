// The ledger in SQLite: each operation is a step of a transaction that several share, on an account in memory (ledger/account.ts).
import type { Admission, AskedAdmission, AskedCheck, AskedResolution, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import type { SqliteParts } from './sqlite-parts.ts';

const UNKNOWN = { kind: 'key_unknown' } as const;

export function sqliteLedger({ group, accounts }: Pick<SqliteParts, 'group' | 'accounts'>): Ledger {
  const admit = (asked: AskedAdmission, nowMs: number): Admission =>
    accounts.account(asked.teamId, nowMs)?.account.admit(asked, nowMs) ?? UNKNOWN;
  const check = (asked: AskedCheck, nowMs: number): CheckedCaller =>
    accounts.account(asked.teamId, nowMs)?.account.check(asked, nowMs) ?? UNKNOWN;
  const resolve = ({ teamId, requestId, verdict, characters }: AskedResolution, nowMs: number): Resolution =>
    accounts.account(teamId, nowMs)?.account.resolve(requestId, verdict, nowMs, characters) ?? { kind: 'absent' };
  return {
    admit: (asked) => group.add(admit, asked, true),
    check: (asked) => group.add(check, asked, true),
    // No caller waits for a settlement: it shares the transaction of an admission or of other settlements.
    resolve: (asked) => group.add(resolve, asked, false),
  };
}
