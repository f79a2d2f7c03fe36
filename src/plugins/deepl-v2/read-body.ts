// How every chain of this API begins, and the step before the admission that reads parameters; a refusal is left with the charge.
import { chargeSlot, FORM_BODY_HEADERS, refusedCharge } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, HeadStep, ListLimit, Refusal } from 'lingate';
import { readMembers } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import { bodyTooLarge } from './deepl-problem-form.ts';

/** `take` keeps what it makes of the parameters, or says what is wrong with them. */
export type Take = (x: Exchange, members: Members) => Refusal | undefined;

export function readBody(name: string, services: GatewayServices, take: Take, limit?: ListLimit): BodyStep {
  const tooLarge = bodyTooLarge(services.bodyBytesMax);
  return {
    kind: 'body',
    name,
    headers: FORM_BODY_HEADERS,
    run(x) {
      const read = x.body === 'too_large' ? tooLarge : readMembers(x.head.headers, x.body, services.bodyBytesMax, limit);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      const refusal = read.kind === 'members' ? take(x, read.members) : read;
      // Answered after the admission, so that a revoked key and the rate limit come first.
      if (refusal !== undefined) x.set(chargeSlot, x.get(chargeSlot) ?? refusedCharge(refusal));
      if (read.kind === 'members') services.judgeAgain(x, () => take(x, read.members));
      return undefined;
    },
  };
}

/** Log, the id for support, load shedding, whose key it is, the team's load shedding. */
export const AUTHENTICATED = ['access-log', 'deepl-trace-id', 'shed', 'identify', 'authenticate', 'team-shed'] as const;

/** The request id under the name by which that API's support asks for it. */
export const TRACE_ID: HeadStep = {
  kind: 'head',
  name: 'deepl-trace-id',
  run(x) {
    x.responseHeaders = [...x.responseHeaders, ['X-Trace-ID', x.id]];
    return undefined;
  },
};
