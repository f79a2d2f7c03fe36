// The ledger's operations on their way to Redis and back: the one place that knows what their texts look like.
import { minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import type { Admission, AdmissionRequest, Placed, RateStanding, Resolution, Verdict } from '../../ports/ledger.ts';
import type { StoreUnavailable } from '../../ports/key-directory.ts';
import { glossaryPair } from './redis-keys.ts';

/** An answer's words, the first of which says what it is. */
export type OperationReply = { readonly kind: 'reply'; readonly text: string } | StoreUnavailable;

const RATE = ' rate ';

/** As `lua/ledger.lua` reads it. */
export function admissionText(request: AdmissionRequest): string {
  const { requestId, keyId, characters, reserve, leaseMs, glossary, reportRate } = request;
  const flags = `${reserve ? 'r' : ''}${reportRate === true ? 's' : ''}-`;
  const pair = glossary === undefined ? '- -' : `${glossary.glossaryId} ${glossaryPair(glossary.sourceLang, glossary.targetLang)}`;
  return `admit ${requestId} ${keyId} ${characters ?? '-'} ${flags} ${leaseMs} ${pair}`;
}

export function resolutionText(requestId: string, verdict: Verdict): string {
  return `${verdict} ${requestId}`;
}

export function readAdmission(request: AdmissionRequest, reply: OperationReply): Admission {
  if (reply.kind === 'unavailable') return reply;
  const { text } = reply;
  switch (text) {
    case 'repeated':
    case 'key_unknown':
    case 'key_revoked':
      return { kind: text };
    default:
      return readDecision(request, text);
  }
}

function readDecision(request: AdmissionRequest, text: string): Admission {
  const at = text.indexOf(RATE);
  const words = (at === -1 ? text : text.slice(0, at)).split(' ');
  if (words[0] === 'rate_limited') return { kind: 'rate_limited', limit: Number(words[1]), retryAfterMs: Number(words[2]) };
  const judgement = readJudgement(request, words);
  if (at === -1) return judgement;
  const [limit, remaining] = text
    .slice(at + RATE.length)
    .split(' ')
    .map(Number) as [number, number];
  const rate: RateStanding = { limit, remaining };
  return { ...judgement, rate };
}

function readJudgement(request: AdmissionRequest, words: readonly string[]): Placed {
  const [word = ''] = words;
  const number = (index: number) => Number(words[index]);
  switch (word) {
    case 'admitted':
      return { kind: 'admitted', reservation: readReservation(request, words) };
    case 'text_too_long':
      return { kind: 'text_too_long', maxCharacters: number(1) };
    case 'glossary_missing':
    case 'glossary_mismatch':
      return { kind: word };
    case 'quota_exceeded':
      return { kind: 'quota_exceeded', characterLimit: number(1), overageCapMinor: number(2), periodEndMs: number(3) };
    case 'credit_exhausted': {
      const [balanceMinor, requiredMinor] = [minorRoundedDown(number(1)), minorRoundedUp(number(2))];
      return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: String(words[3]) };
    }
    default:
      throw new Error(`the ledger script answered ${word}`);
  }
}

function readReservation({ requestId, teamId }: AdmissionRequest, [, characters, leaseUntilMs]: readonly string[]) {
  if (characters === undefined) return undefined;
  return { requestId, teamId, characters: Number(characters), leaseUntilMs: Number(leaseUntilMs) };
}

export function readResolution(reply: OperationReply): Resolution {
  if (reply.kind === 'unavailable') return reply;
  const { text } = reply;
  switch (text) {
    case 'committed':
    case 'released':
    case 'expired':
    case 'absent':
      return { kind: text };
    default:
      throw new Error(`the ledger script answered ${text}`);
  }
}
