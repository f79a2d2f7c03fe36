// Exchanges as a listener would open them, for timing single steps.
import { Exchange } from '../../src/core/exchange.ts';
import type { RequestHead, Sink } from '../../src/core/exchange.ts';
import { compileRoute } from '../../src/core/route.ts';
import { SAMPLE_BODY } from '../contestants/sample.ts';
import { bearer, benchKeys } from '../contestants/keys.ts';

export const SAMPLE_ID = '01JD8ZK2V7Q4M9X3B6T5R1W0YH';
export const [sampleKey = ''] = benchKeys(1);
export const SAMPLE_BYTES: Uint8Array = Buffer.from(SAMPLE_BODY);

export const sampleHead: RequestHead = {
  method: 'POST',
  path: '/v1/translate',
  query: '',
  headers: { authorization: bearer(sampleKey), 'content-type': 'application/json' },
};

const route = compileRoute({ method: 'POST', path: '/v1/translate', takesBody: true, steps: [] });
const nowhere: Sink = { send: () => 'written', stream: () => undefined, incoming: () => undefined, remoteAddress: () => '' };

export function sampleExchange(): Exchange {
  const x = new Exchange(SAMPLE_ID, sampleHead, nowhere, route, 0);
  x.body = SAMPLE_BYTES;
  return x;
}
