// The same closed loop with autocannon: heavier than our own load, and so a check on it rather than the main measure.
import autocannon from 'autocannon';
import { NOTHING_MEASURED } from './load-job.ts';
import type { LoadResult, LoadTarget } from './load-job.ts';

export async function autocannonLoad(target: LoadTarget, durationMs: number): Promise<LoadResult> {
  const { port, path, connections, authorizations, body, expected, variety } = target;
  if (variety !== undefined) throw new Error('autocannon sends the same text with every request: leave out contestants that cache texts');
  const fields = { 'content-type': 'application/json' };
  let mismatches = 0;
  // Its own comparison of bodies does not work with more than one request.
  const onResponse = (_status: number, received: string): void => {
    if (received !== expected.body) mismatches++;
  };
  const requests = authorizations.map((authorization) => ({
    method: 'POST' as const,
    path,
    body,
    headers: authorization === '' ? fields : { ...fields, authorization },
    ...(expected.body === undefined ? {} : { onResponse }),
  }));
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: durationMs / 1000,
    requests,
  });
  const all = result['2xx'] + result.non2xx;
  // It only distinguishes classes of status.
  const right = expected.alsoStatus !== undefined ? all : expected.status < 300 ? result['2xx'] : result.non2xx;
  const faults = result.errors + mismatches + (all - right);
  return {
    ...NOTHING_MEASURED,
    answers: right,
    faults,
    fault: faults > 0 ? 'autocannon saw wrong answers' : undefined,
    elapsedMs: result.duration * 1000,
  };
}
