// The refusals of forward routes, which contain nothing that the upstream sent.
import { refuse } from '../core/problem.ts';
import type { ProblemCode, ProblemFields } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

export const ENGINE_UNAVAILABLE = refuse(
  'engine_unavailable',
  'The service behind this route gave no usable answer; nothing was charged. Try again in a few seconds.',
);

/** For an upstream status that the operator has mapped to a code. Nothing that the upstream sent is passed on. */
export function mappedRefusal(code: ProblemCode): Refusal {
  if (code === 'engine_unavailable') return ENGINE_UNAVAILABLE;
  return refuse(
    code as Exclude<ProblemCode, keyof ProblemFields>,
    'The service behind this route did not accept the request; nothing was charged.',
  );
}
