// Checks every invariant of a store while gateways serve it: anything suspicious is checked again before it is reported.
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportFinding, StoreFinding, WholeAccount } from '../ports/whole-accounts.ts';
import type { DocumentCheck } from './document-check.ts';
import { judgeDictionary, judgeTeam } from './team-invariants.ts';
import type { WholeStore } from './whole-store.ts';

/** What was checked. */
export interface CheckCounts {
  readonly teams: number;
  readonly keys: number;
  readonly glossaries: number;
  /** 0 unless they are checked. */
  readonly documents: number;
  readonly documentBytes: number;
}

interface CheckOptions {
  /** Called with the number of teams checked so far. */
  readonly onTeam?: (teams: number) => void;
  /** How long to wait for operations in flight: an index is written just after the record it refers to. */
  readonly settleMs?: number;
  /** The store's present time, by default by its own clock. */
  readonly nowMs?: number;
  /** Checks documents as well. */
  readonly documents?: DocumentCheck;
}

const NO_DOCUMENTS = { documents: 0, documentBytes: 0 };
const SETTLE_MS = 700;
const LOOKS = 3;

/** Calls `report` once for each fault. */
export async function checkStore(
  reader: WholeStore,
  report: ReportFinding,
  { onTeam, settleMs = SETTLE_MS, nowMs: givenMs, documents }: CheckOptions = {},
): Promise<CheckCounts> {
  const nowMs = givenMs ?? (await reader.nowMs());
  const counts = { teams: 0, keys: 0, glossaries: 0 };
  const suspicious = new Set<string>();
  const suspect: ReportFinding = ({ teamId }) => void (teamId !== undefined && suspicious.add(teamId));
  for await (const account of reader.accounts(suspect)) {
    counts.teams++;
    counts.keys += account.keys.length;
    counts.glossaries += await judge(reader, documents, account, nowMs, suspect);
    onTeam?.(counts.teams);
  }
  const looks: ((suspected: ReportFinding) => Promise<void>)[] = [...suspicious].map((teamId) => async (suspected) => {
    const account = await reader.account(teamId, suspected);
    if (account?.period !== undefined) await judge(reader, documents, account, nowMs, suspected);
  });
  looks.push((suspected) => reader.structure(suspected));
  if (documents !== undefined) looks.push((suspected) => documents.judgeShared(nowMs, suspected));
  for (const look of looks) for (const finding of await confirmed(look, settleMs)) report(finding);
  return { ...counts, ...(documents?.counts ?? NO_DOCUMENTS) };
}

/** What is found in each of several looks: what is in flight at one of them is over at the next. */
async function confirmed(look: (suspected: ReportFinding) => Promise<void>, settleMs: number): Promise<readonly StoreFinding[]> {
  const nameOf = ({ what, teamId, keyId }: StoreFinding): string => [what, teamId, keyId].join(' ');
  let known: ReadonlySet<string> | undefined;
  for (let looks = 1; ; looks++) {
    const all: StoreFinding[] = [];
    await look((finding) => void all.push(finding));
    const found = all.filter((finding) => known === undefined || known.has(nameOf(finding)));
    if (found.length === 0 || looks === LOOKS) return found;
    known = new Set(found.map(nameOf));
    await delay(settleMs / LOOKS);
  }
}

/** Returns how many glossaries there are. */
async function judge(
  reader: WholeStore,
  documents: DocumentCheck | undefined,
  account: WholeAccount,
  nowMs: number,
  report: ReportFinding,
): Promise<number> {
  const { teamId } = account.team;
  const glossaries = judgeTeam(account, nowMs, report);
  await documents?.judgeTeam(account, nowMs, report);
  for (const dictionary of glossaries.flatMap(({ dictionaries }) => dictionaries))
    await judgeDictionary(teamId, dictionary, await reader.entries(teamId, dictionary.dictionaryId), report);
  return glossaries.length;
}
