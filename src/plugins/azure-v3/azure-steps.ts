// How every chain of this API begins, and the step before the admission that reads a request; a refusal is left with the charge.
import { chargeSlot, refusedCharge } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, HeadStep, Refusal, Step } from 'lingate';
import { keyFieldStep } from '../facades/key-field.ts';
import { NO_KEY } from './azure-problem-form.ts';
import { TEXTS_HEADERS } from './azure-texts.ts';

/** Log, and the request id under the name by which that API's support asks for it. */
export const LOGGED = ['access-log', 'azure-request-id'] as const;
/** Then load shedding, whose key it is, and the team's load shedding. */
export const AUTHENTICATED = [...LOGGED, 'shed', 'azure-key', 'authenticate', 'team-shed'] as const;

const REQUEST_ID: HeadStep = {
  kind: 'head',
  name: 'azure-request-id',
  run(x) {
    x.responseHeaders = [...x.responseHeaders, ['X-RequestId', x.id]];
    return undefined;
  },
};

/** The steps that several routes share. */
export function sharedSteps(services: GatewayServices): readonly Step[] {
  return [REQUEST_ID, keyFieldStep('azure-key', { field: 'ocp-apim-subscription-key', noKey: NO_KEY }, services)];
}

/** `take` keeps what it makes of the request, and its charge, or says what is wrong with it. */
export function readStep(name: string, take: (x: Exchange) => Refusal | undefined): BodyStep {
  return {
    kind: 'body',
    name,
    headers: TEXTS_HEADERS,
    run(x) {
      const refusal = take(x);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      // Answered after the admission, so that a revoked key and the rate limit come first.
      if (refusal !== undefined) x.set(chargeSlot, x.get(chargeSlot) ?? refusedCharge(refusal));
      return undefined;
    },
  };
}
