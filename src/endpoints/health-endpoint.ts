// GET /health: whether this process can serve, from the last result of the background probe. Does not ask the store.
import { json } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { HeadStep } from '../core/step.ts';

const OK = json('{"status":"ok"}');
const NOT_SERVING = refuse('service_unavailable', 'This instance cannot serve at the moment; try again in a few seconds.');

/** `serving` says whether the store answered recently and the gateway is not draining. */
export function healthEndpoint(serving: () => boolean): HeadStep {
  return { kind: 'head', name: 'health', run: () => (serving() ? OK : NOT_SERVING) };
}
