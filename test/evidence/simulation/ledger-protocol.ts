// The texts in which the Redis driver and its ledger script speak with each other, read and written independently of both.
import type { Admission, AdmissionRequest, Resolution, Verdict } from '../../../src/ports/ledger.ts';

export type LedgerOperation =
  | { readonly kind: 'admit'; readonly requestId: string; readonly request: AdmissionRequest }
  | { readonly kind: 'resolve'; readonly requestId: string; readonly verdict: Verdict };

/** What one team is asked in a call. */
export interface LedgerGroup {
  readonly teamId: string;
  /** Bounds of a period, and the length and team's creation that they were computed from; empty when there is none. */
  readonly offer: readonly string[];
  readonly operations: readonly LedgerOperation[];
}

export interface LedgerCall {
  /** Empty for the server's own. */
  readonly clock: string;
  readonly deadlineMs: number;
  readonly groups: readonly LedgerGroup[];
}

const KEYS_PER_TEAM = 6;

export function readLedgerCall(keys: readonly string[], args: readonly string[]): LedgerCall {
  const [clock = '', deadline, ...rest] = args;
  const groups: LedgerGroup[] = [];
  for (let key = 0; key < keys.length; key += KEYS_PER_TEAM) {
    const teamId = /\{(.+)\}/.exec(keys[key] ?? '')?.[1] ?? '';
    const [offer = '', count] = rest.splice(0, 2);
    const operations = rest.splice(0, Number(count)).map((text) => readOperation(teamId, text));
    groups.push({ teamId, offer: offer === '' ? [] : offer.split(' '), operations });
  }
  if (rest.length > 0) throw new Error('a call says more than its teams account for');
  return { clock, deadlineMs: Number(deadline), groups };
}

function readOperation(teamId: string, text: string): LedgerOperation {
  const [word, requestId = '', keyId = '', characters = '', flags = '', leaseMs, glossaryId = '', pair = ''] = text.split(' ');
  if (word === 'commit' || word === 'release') return { kind: 'resolve', requestId, verdict: word };
  if (word !== 'admit') throw new Error(`there is no operation ${text}`);
  const [sourceLang = '', targetLang = ''] = pair.split('|');
  const request = {
    requestId,
    teamId,
    keyId,
    characters: characters === '-' ? undefined : Number(characters),
    reserve: flags.includes('r'),
    leaseMs: Number(leaseMs),
    glossary: glossaryId === '-' ? undefined : { glossaryId, sourceLang, targetLang },
    reportRate: flags.includes('s'),
  };
  return { kind: 'admit', requestId, request };
}

/** As the script says it; amounts of money in millionths. */
export function textOf(answer: Admission | Resolution): string {
  const rate = 'rate' in answer && answer.rate !== undefined ? ['rate', answer.rate.limit, answer.rate.remaining] : [];
  return [answer.kind, ...detailsOf(answer), ...rate].join(' ');
}

function detailsOf(answer: Admission | Resolution): readonly (string | number)[] {
  switch (answer.kind) {
    case 'admitted':
      return answer.reservation === undefined ? [] : [answer.reservation.characters, answer.reservation.leaseUntilMs];
    case 'rate_limited':
      return [answer.limit, answer.retryAfterMs];
    case 'text_too_long':
      return [answer.maxCharacters];
    case 'quota_exceeded':
      return [answer.characterLimit, answer.overageCapMinor, answer.periodEndMs];
    case 'credit_exhausted':
      return [answer.balanceMinor * 1_000_000, answer.requiredMinor * 1_000_000, answer.currency];
    case 'unavailable':
      throw new Error('the model is always there');
    case 'repeated':
    case 'key_unknown':
    case 'key_revoked':
    case 'glossary_missing':
    case 'glossary_mismatch':
    case 'committed':
    case 'released':
    case 'expired':
    case 'absent':
      return [];
  }
}
