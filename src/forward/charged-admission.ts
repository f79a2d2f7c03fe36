// The charge of a forwarded request, and checks of its head; a refusal is answered after the admission.
import type { Exchange } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { BodyStep, Step } from '../core/step.ts';
import { chargeSlot, refusedCharge } from '../domain/charge.ts';
import type { Charge } from '../domain/charge.ts';
import { takesBody } from '../domain/forward-route.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';

/** The characters allowed in a query; both listeners accept more. */
const QUERY = /^[!"$-~]*$/;
export const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** The admission of a forward route: the normal step, preceded by setting the route's charge. */
export function chargedAdmission(admit: Step, route: ForwardRoute): BodyStep {
  if (admit.kind !== 'body') throw new Error('the admission waits for the store: it is a body step');
  return {
    ...admit,
    run(x) {
      const charge = chargeOf(x, route);
      if (charge !== undefined) x.set(chargeSlot, charge);
      return admit.run(x);
    },
  };
}

function chargeOf(x: Exchange, route: ForwardRoute): Charge | undefined {
  const refusal = faultOf(x, route);
  if (refusal !== undefined) return refusedCharge(refusal);
  if (route.chargeCharacters === 0) return undefined;
  return { characters: route.chargeCharacters, reserve: true, glossary: undefined, refusal: undefined };
}

function faultOf(x: Exchange, { requestFields, bodyBytesMax }: ForwardRoute): Refusal | undefined {
  const { method, query, headers } = x.head;
  const body = x.sink.incoming();
  if (body !== undefined && !takesBody(method)) return refuse('validation_error', `body: ${method} takes none.`);
  if (body?.bytes !== undefined && body.bytes > bodyBytesMax) return bodyTooLong(bodyBytesMax);
  if (!QUERY.test(query)) return refuse('validation_error', 'query: percent-encode everything but printable ASCII.');
  const bad = requestFields.find((name) => !FIELD_VALUE.test(headers[name] ?? ''));
  return bad === undefined ? undefined : refuse('validation_error', `${bad}: the field contains something other than printable ASCII.`);
}

export function bodyTooLong(bodyBytesMax: number): Refusal {
  return refuse('validation_error', `body: may be at most ${bodyBytesMax} bytes long.`);
}
