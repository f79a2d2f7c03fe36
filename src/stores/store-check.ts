// Checks every invariant of a store while gateways serve it: anything suspicious is checked again before it is reported.
import { setTimeout as delay } from 'node:timers/promises';
import { answered } from '../domain/store-unavailable.ts';
import type { StoreFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { judgeDocuments, judgeQueue } from './document-check.ts';
import type { DocumentCheck, CheckedFault, ReportFault } from './document-check.ts';
import { withGlossarySums } from './records/record-glossaries.ts';
import { recordsOf } from './records/record-tables.ts';
import { judgeTeam } from './team-invariants.ts';
import type { WholeStore } from './whole-store.ts';

const NO_COUNTS = {
  teams: 0,
  keys: 0,
  glossaries: 0,
  /** 0 unless they are checked. */
  documents: 0,
  documentBytes: 0,
};

/** What was checked. */
export type CheckCounts = Readonly<typeof NO_COUNTS>;

interface CheckOptions {
  /** Called with the number of teams checked so far. */
  readonly onTeam?: (teams: number) => void;
  /** How long to wait for operations in flight: an index is written just after the record it refers to. */
  readonly settleMs?: number;
  /** The store's present time, by default by its own clock. */
  readonly nowMs?: number;
  /** Checks documents as well. */
  readonly documents?: DocumentCheck | undefined;
}

const SETTLE_MS = 700;
const LOOKS = 3;

/** Calls `report` once for each fault. */
export async function checkStore(
  reader: WholeStore,
  report: ReportFault,
  { onTeam, settleMs = SETTLE_MS, nowMs: givenMs, documents }: CheckOptions = {},
): Promise<CheckCounts> {
  const nowMs = givenMs ?? (await reader.nowMs());
  const counts = { ...NO_COUNTS };
  const judge = async (account: WholeAccount | undefined, suspected: ReportFault): Promise<void> => {
    if (account?.period === undefined) return;
    await judgeTeam({ ...account, period: account.period }, { reader, nowMs }, suspected);
    if (documents === undefined) return;
    counts.documents += recordsOf(account, 'documents').size;
    counts.documentBytes += await judgeDocuments({ reader, nowMs, ...documents }, account, suspected);
  };
  const suspicious = new Set<string>();
  const suspect: ReportFault = ({ teamId }) => void (teamId !== undefined && suspicious.add(teamId));
  for await (const account of reader.accounts(suspect)) {
    if (account.period === undefined) continue;
    counts.keys += account.keys.length;
    counts.glossaries += recordsOf(account, 'glossaries').size;
    await judge(account, suspect);
    counts.teams++;
    onTeam?.(counts.teams);
  }
  const checked = { ...counts };
  const looks = [...suspicious].map(
    (teamId) => async (suspected: ReportFault) => judge(await reader.account(teamId, suspected), suspected),
  );
  looks.push((suspected) => reader.structure(suspected));
  if (documents !== undefined) looks.push((suspected) => judgeQueue({ reader, nowMs, ...documents }, suspected));
  for (const look of looks) for (const fault of await confirmed(look, settleMs)) report(fault);
  return checked;
}

/** Kinds of faults in what follows from the rest of an account, and is written with it. */
const DERIVED: ReadonlySet<string> = new Set(['used', 'held', 'glossary', 'digest', 'owner', 'index']);

/** Whether `recountAccount` of its team may mend it. */
export function isDerived({ what, teamId }: StoreFinding): boolean {
  return teamId !== undefined && DERIVED.has(what);
}

/** Writes an account in its place: sums by its charges, reservations and glossaries, and the indexes by which it is found. */
export async function recountAccount({ store }: WholeStore, teamId: string): Promise<void> {
  answered((await store.accounts.change(teamId, (account) => account && { account: withGlossarySums(account) })) ?? true);
}

/** What is found in each of several looks: what is in flight at one of them is over at the next. */
async function confirmed(look: (suspected: ReportFault) => Promise<void>, settleMs: number): Promise<readonly CheckedFault[]> {
  const nameOf = ({ what, teamId, keyId }: CheckedFault): string => [what, teamId, keyId].join(' ');
  let known: ReadonlySet<string> | undefined;
  for (let looks = 1; ; looks++) {
    const all: CheckedFault[] = [];
    await look((fault) => void all.push(fault));
    const found = all.filter((fault) => known === undefined || known.has(nameOf(fault)));
    if (found.length === 0 || looks === LOOKS) return found;
    known = new Set(found.map(nameOf));
    await delay(settleMs / LOOKS);
  }
}
