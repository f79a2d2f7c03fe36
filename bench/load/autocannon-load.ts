// The same closed loop by autocannon: heavier than our own load, and so a check on it rather than the yardstick.
import autocannon from 'autocannon';
import { NOTHING_MEASURED } from './load-job.ts';
import type { LoadResult, LoadTarget } from './load-job.ts';

export async function autocannonLoad(target: LoadTarget, durationMs: number): Promise<LoadResult> {
  const { port, path, connections, authorizations, body, expected } = target;
  const fields = { 'content-type': 'application/json' };
  const requests = authorizations.map((authorization) => ({
    method: 'POST' as const,
    path,
    body,
    headers: authorization === '' ? fields : { ...fields, authorization },
  }));
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: durationMs / 1000,
    requests,
    ...(expected.body === undefined ? {} : { expectBody: expected.body }),
  });
  const right = expected.status < 300 ? result['2xx'] : result.non2xx;
  const faults = result.errors + result.mismatches + (result['2xx'] + result.non2xx - right);
  return {
    ...NOTHING_MEASURED,
    answers: right,
    faults,
    fault: faults > 0 ? 'autocannon saw wrong answers' : undefined,
    elapsedMs: result.duration * 1000,
  };
}
