// An admission on its way to Redis and back: the one place that knows the order of arguments and answers.
import { minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import type { Admission, AdmissionRequest, Placed, RateStanding, Resolution, Verdict } from '../../ports/ledger.ts';
import { glossaryPair, teamKeys } from './redis-keys.ts';
import type { ScriptCall, ScriptReply } from './script-caller.ts';

export function admissionCall(request: AdmissionRequest): ScriptCall {
  const { requestId, teamId, keyId, characters, reserve, leaseMs, glossary, reportRate } = request;
  const { team, open, due, seen, window, pairs } = teamKeys(teamId);
  return {
    script: 'admit',
    teamId,
    keys: [team, open, due, seen, window, pairs],
    args: [
      requestId,
      keyId,
      characters === undefined ? '' : String(characters),
      reserve ? '1' : '0',
      String(leaseMs),
      glossary === undefined ? '' : glossary.glossaryId,
      glossary === undefined ? '' : glossaryPair(glossary.sourceLang, glossary.targetLang),
      reportRate === true ? '1' : '0',
    ],
  };
}

export function resolutionCall(teamId: string, requestId: string, verdict: Verdict): ScriptCall {
  const { team, open, due, seen } = teamKeys(teamId);
  return { script: 'resolve', teamId, keys: [team, open, due, seen], args: [requestId, verdict] };
}

export function readAdmission(request: AdmissionRequest, reply: ScriptReply): Admission {
  if (reply.kind === 'unavailable') return reply;
  const { word, values } = reply;
  switch (word) {
    case 'repeated':
    case 'key_unknown':
    case 'key_revoked':
      return { kind: word };
    case 'rate_limited':
      return { kind: 'rate_limited', limit: Number(values[2]), retryAfterMs: Number(values[3]) };
    default:
      return readPlaced(request, word, values);
  }
}

function readPlaced(request: AdmissionRequest, word: string, values: readonly unknown[]): Placed {
  const last = values.at(-1);
  if (!Array.isArray(last)) return readJudgement(request, word, values);
  const [limit, remaining] = last.map(Number) as [number, number];
  const rate: RateStanding = { limit, remaining };
  return { ...readJudgement(request, word, values.slice(0, -1)), rate };
}

function readJudgement(request: AdmissionRequest, word: string, values: readonly unknown[]): Placed {
  const number = (index: number) => Number(values[index]);
  switch (word) {
    case 'admitted':
      return { kind: 'admitted', reservation: readReservation(request, values) };
    case 'text_too_long':
      return { kind: 'text_too_long', maxCharacters: number(2) };
    case 'glossary_missing':
    case 'glossary_mismatch':
      return { kind: word };
    case 'quota_exceeded':
      return { kind: 'quota_exceeded', characterLimit: number(2), overageCapMinor: number(3), periodEndMs: number(4) };
    case 'credit_exhausted': {
      const [balanceMinor, requiredMinor] = [minorRoundedDown(number(2)), minorRoundedUp(number(3))];
      return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: String(values[4]) };
    }
    default:
      throw new Error(`the admission script answered ${word}`);
  }
}

function readReservation({ requestId, teamId }: AdmissionRequest, values: readonly unknown[]) {
  const [, , characters, leaseUntilMs] = values;
  if (characters === undefined) return undefined;
  return { requestId, teamId, characters: Number(characters), leaseUntilMs: Number(leaseUntilMs) };
}

export function readResolution(reply: ScriptReply): Resolution {
  if (reply.kind === 'unavailable') return reply;
  switch (reply.word) {
    case 'committed':
    case 'released':
    case 'expired':
    case 'absent':
      return { kind: reply.word };
    default:
      throw new Error(`the resolution script answered ${reply.word}`);
  }
}
