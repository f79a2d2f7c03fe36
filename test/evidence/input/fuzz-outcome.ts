// Classifies a gateway's reaction to malformed input, and reports what must not happen.
import { readResponse } from '../../support/raw-response.ts';
import type { HttpResponse } from '../../support/raw-response.ts';
import { faultsOf } from './clean-answer.ts';

interface FuzzOutcome {
  /** A status, `html:N` for an answer of the library itself, or `none`. */
  readonly answers: readonly string[];
  readonly faults: readonly string[];
}

/** The library's own answers that deviations 1, 3 to 5, 9 to 12 and 14 of the HTTP table describe. */
const LIBRARY_STATUS = [400, 431, 505];

/** Everything received before the connection ended; the last answer may be cut off by a caller who left. */
export function outcomeOf(received: Buffer, listener: 'uws' | 'node'): FuzzOutcome {
  const answers: string[] = [];
  const faults: string[] = [];
  let rest = received;
  while (rest.length > 0) {
    const next = tolerantResponse(rest);
    if (typeof next === 'string') {
      faults.push(`what came is no answer: ${next}`);
      break;
    }
    if (next === undefined) break;
    const { response, length } = next;
    rest = rest.subarray(length);
    const [answer, ...wrong] = judge(response, listener);
    answers.push(answer);
    faults.push(...wrong);
  }
  return { answers: answers.length === 0 ? ['none'] : answers, faults };
}

function judge(response: HttpResponse, listener: 'uws' | 'node'): [answer: string, ...faults: string[]] {
  const { status, headers } = response;
  if (status === 100) return ['100'];
  if (headers['x-request-id'] !== undefined) return [String(status), ...faultsOf(response)];
  const known = listener === 'uws' && LIBRARY_STATUS.includes(status);
  return [`html:${status}`, ...(known ? [] : [`an answer without a request id: ${status}`])];
}

/** The answer to a HEAD looks like one with a missing body: what follows it tells. */
function tolerantResponse(bytes: Buffer): ReturnType<typeof readResponse> | string {
  try {
    const whole = readResponse(bytes, false, false);
    const headless = readResponse(bytes, true, false);
    if (headless === undefined) return undefined;
    if (headless.response.headers['content-length'] === undefined) return readResponse(bytes, false, true);
    const behind = bytes.subarray(headless.length);
    const next = behind.subarray(0, 9).toString('latin1');
    return behind.length === 0 || next.startsWith('HTTP/1.1 ') ? headless : whole;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
