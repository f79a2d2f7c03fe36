// A refusal as an RFC 9457 document: the one that a flooding team gets.
import assert from 'node:assert/strict';
import { ProblemWriter } from '../../src/core/problem-writer.ts';
import { refuse } from '../../src/core/problem.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_ID } from './sample-exchange.ts';

const LIMIT = 50;
const DETAIL = 'At most 50 requests per second are allowed for this team.';

const writer = new ProblemWriter({ docsUrl: 'http://127.0.0.1:9090/docs', realm: 'lingate' });
const refusal = refuse('rate_limited', DETAIL, { limit: LIMIT }, [['Retry-After', '1']]);
const plain = {
  type: 'about:blank',
  title: 'Too many requests',
  status: 429,
  code: 'rate_limited',
  detail: DETAIL,
  request_id: SAMPLE_ID,
  limit: LIMIT,
};

export const problemRendering: MicroCase = {
  name: 'problem rendering',
  floorDoes: 'JSON.stringify of a ready object',
  run: () => writer.render(refusal.problem, SAMPLE_ID),
  floor: () => JSON.stringify(plain),
  check() {
    const { status, body } = writer.render(refusal.problem, SAMPLE_ID);
    assert.equal(status, 429);
    const { code, request_id: id, limit } = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([code, id, limit], ['rate_limited', SAMPLE_ID, LIMIT]);
  },
};
