// The calls of the Redis driver to its ledger functions, read and answered independently of both: JSON in both directions.
import { SocketAddress } from 'node:net';
import type { Admission, AdmissionRequest, CheckedCaller, Resolution, Verdict } from '../../../src/ports/ledger.ts';

export type LedgerOperation =
  | { readonly kind: 'admit'; readonly requestId: string; readonly request: AdmissionRequest }
  | { readonly kind: 'resolve'; readonly requestId: string; readonly verdict: Verdict; readonly characters: number | undefined };

/** A team's operations in a call. */
export interface LedgerGroup {
  readonly teamId: string;
  readonly operations: readonly LedgerOperation[];
}

interface LedgerCall {
  readonly clockMs: number | undefined;
  /** What is added to the server's own clock. */
  readonly correctionMs: number;
  readonly deadlineMs: number;
  readonly groups: readonly LedgerGroup[];
}

/** An operation in a call: an admission, or a settlement. */
interface Words {
  readonly id?: string;
  readonly key?: string;
  readonly characters?: number;
  readonly reserve?: number;
  readonly lease?: number;
  readonly glossary?: { readonly id: string; readonly source: string; readonly target: string; readonly byBase?: true };
  readonly report?: true;
  readonly plan?: true;
  readonly address?: string;
  readonly scope?: string;
  readonly tag?: AdmissionRequest['tag'];
  readonly commit?: string;
  readonly release?: string;
}

export function readLedgerCall(keys: readonly string[], text: string): LedgerCall {
  const call = JSON.parse(text) as {
    readonly deadline: number;
    readonly clock?: number;
    readonly correction?: number;
    readonly teams: readonly (readonly Words[])[];
  };
  const groups = keys.map((key, i): LedgerGroup => {
    const teamId = /\{(.+)\}/.exec(key)?.[1] ?? '';
    return { teamId, operations: call.teams[i]!.map((words) => readOperation(teamId, words)) };
  });
  return { clockMs: call.clock, correctionMs: call.correction ?? 0, deadlineMs: call.deadline, groups };
}

function readOperation(teamId: string, words: Words): LedgerOperation {
  const { id, key, reserve, characters = reserve, lease = 0, glossary, report, plan, address, scope, tag } = words;
  if (id === undefined || key === undefined) {
    const [requestId, verdict] = words.commit === undefined ? ([words.release!, 'release'] as const) : ([words.commit, 'commit'] as const);
    return { kind: 'resolve', requestId, verdict, characters };
  }
  const request: AdmissionRequest = {
    requestId: id,
    teamId,
    keyId: key,
    characters,
    reserve: reserve !== undefined,
    ...(reserve === undefined || reserve === characters ? {} : { charged: reserve }),
    leaseMs: lease,
    glossary: glossary && {
      glossaryId: glossary.id,
      sourceLang: glossary.source,
      targetLang: glossary.target,
      byBase: glossary.byBase === true,
    },
    reportRate: report === true,
    reportPlan: plan,
    address: address === undefined ? undefined : addressOf(address),
    scope,
    tag,
  };
  return { kind: 'admit', requestId: id, request };
}

/** From the bits that Lua compares. */
function addressOf(bits: string): string {
  const bytes = [...bits.slice(2).matchAll(/[01]{8}/g)].map(([byte]) => Number.parseInt(byte, 2));
  if (bits.startsWith('4.')) return bytes.join('.');
  const groups = Array.from({ length: bytes.length / 2 }, (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16));
  return groups.length === 0 ? '' : new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** The store's time, and the answers to each team's operations. */
export function writeReply(nowMs: number, answers: readonly (readonly object[])[]): string {
  return JSON.stringify({ now: nowMs, answers });
}

/** Nothing was done. */
export function overdueReply(nowMs: number): string {
  return JSON.stringify({ now: nowMs, overdue: true });
}

/** As the functions answer: a reservation is in two members. */
export function answerOf(answer: Admission | CheckedCaller | Resolution): object {
  if (answer.kind !== 'admitted') return answer;
  const { reservation, ...rest } = answer;
  return reservation === undefined ? rest : { ...rest, characters: reservation.characters, untilMs: reservation.leaseUntilMs };
}
