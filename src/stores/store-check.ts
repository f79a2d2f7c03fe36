// Checks every invariant of a store while gateways serve it: anything suspicious is checked again before it is reported.
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportFinding, StoreFinding, WholeAccount } from '../ports/whole-accounts.ts';
import type { DocumentCheck } from './document-check.ts';
import type { GlossaryContents } from './records/glossary-record.ts';
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

interface Checking {
  readonly reader: WholeStore;
  readonly documents: DocumentCheck | undefined;
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
    counts.glossaries += (await judge({ reader, documents }, account, nowMs, suspect)).length;
    onTeam?.(counts.teams);
  }
  for (const teamId of suspicious) for (const finding of await findingsOf({ reader, documents }, teamId, nowMs, settleMs)) report(finding);
  await reader.structure(report, settleMs);
  if (documents !== undefined) for (const finding of await sharedFindings(documents, nowMs, settleMs)) report(finding);
  return { ...counts, ...(documents?.counts ?? NO_DOCUMENTS) };
}

/** What is shared by all teams, after several looks. */
async function sharedFindings(documents: DocumentCheck, nowMs: number, settleMs: number): Promise<readonly StoreFinding[]> {
  let findings: StoreFinding[] = [];
  for (let look = 1; look <= LOOKS; look++) {
    findings = [];
    await documents.judgeShared(nowMs, (finding) => void findings.push(finding));
    if (findings.length === 0) return [];
    if (look < LOOKS) await delay(settleMs / LOOKS);
  }
  return findings;
}

/** The faults that a team still has after several looks. */
async function findingsOf(
  { reader, documents }: Checking,
  teamId: string,
  nowMs: number,
  settleMs: number,
): Promise<readonly StoreFinding[]> {
  let findings: StoreFinding[] = [];
  for (let look = 1; look <= LOOKS; look++) {
    findings = [];
    const keep: ReportFinding = (finding) => void findings.push(finding);
    const account = await reader.account(teamId, keep);
    if (account?.period !== undefined) await judge({ reader, documents }, account, nowMs, keep);
    if (findings.length === 0) return [];
    if (look < LOOKS) await delay(settleMs / LOOKS);
  }
  return findings;
}

/** Returns the glossaries. */
async function judge(
  { reader, documents }: Checking,
  account: WholeAccount,
  nowMs: number,
  report: ReportFinding,
): Promise<readonly GlossaryContents[]> {
  const { teamId } = account.team;
  let glossaries: readonly GlossaryContents[] = [];
  try {
    glossaries = judgeTeam(account, nowMs, report);
  } catch (error) {
    report({ what: 'team', teamId, detail: `its contents cannot be judged (${error instanceof Error ? error.name : 'unknown'})` });
  }
  await documents?.judgeTeam(account, nowMs, report);
  for (const dictionary of glossaries.flatMap(({ dictionaries }) => dictionaries)) {
    await judgeDictionary(teamId, dictionary, await reader.entries(teamId, dictionary.dictionaryId), report);
  }
  return glossaries;
}
