// Checks every invariant of a store while gateways serve it: anything suspicious is checked again before it is reported.
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportFinding, StoreFinding, StoreReader, TeamContents } from '../ports/store-contents.ts';
import type { DocumentCheck } from './document-check.ts';
import { judgeDictionary, judgeTeam } from './team-invariants.ts';

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
  readonly reader: StoreReader;
  readonly documents: DocumentCheck | undefined;
}

const NO_DOCUMENTS = { documents: 0, documentBytes: 0 };
const SETTLE_MS = 700;
const LOOKS = 3;

/** Calls `report` once for each fault. */
export async function checkStore(
  reader: StoreReader,
  report: ReportFinding,
  { onTeam, settleMs = SETTLE_MS, nowMs: givenMs, documents }: CheckOptions = {},
): Promise<CheckCounts> {
  const nowMs = givenMs ?? (await reader.nowMs());
  const counts = { teams: 0, keys: 0, glossaries: 0 };
  const suspicious = new Set<string>();
  const suspect: ReportFinding = ({ teamId }) => void (teamId !== undefined && suspicious.add(teamId));
  for await (const contents of reader.teams(suspect)) {
    counts.teams++;
    counts.keys += contents.keys.length;
    counts.glossaries += contents.glossaries.length;
    await judge({ reader, documents }, contents, nowMs, suspect);
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
    const contents = await reader.team(teamId, keep);
    if (contents !== undefined) await judge({ reader, documents }, contents, nowMs, keep);
    if (findings.length === 0) return [];
    if (look < LOOKS) await delay(settleMs / LOOKS);
  }
  return findings;
}

async function judge({ reader, documents }: Checking, contents: TeamContents, nowMs: number, report: ReportFinding): Promise<void> {
  const { teamId } = contents.team;
  try {
    judgeTeam(contents, nowMs, report);
  } catch (error) {
    report({ what: 'team', teamId, detail: `its contents cannot be judged (${error instanceof Error ? error.name : 'unknown'})` });
  }
  await documents?.judgeTeam(contents, nowMs, report);
  for (const dictionary of contents.glossaries.flatMap(({ dictionaries }) => dictionaries)) {
    await judgeDictionary(teamId, dictionary, await reader.entries(teamId, dictionary.dictionaryId), report);
  }
}
