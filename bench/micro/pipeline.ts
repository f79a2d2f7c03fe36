// The pipeline alone: a whole exchange through a chain of eight steps that do nothing, settled in reverse and sent.
import assert from 'node:assert/strict';
import type { Handed } from '../../src/core/exchange.ts';
import { Gateway } from '../../src/core/gateway.ts';
import { json } from '../../src/core/outcome.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { Router } from '../../src/core/router.ts';
import type { Step } from '../../src/core/step.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_BYTES, SAMPLE_ID, sampleHead } from './sample-exchange.ts';

const ANSWER = json('{}');
const HEAD_STEPS = 3;
const STEPS = 8;

let settled = 0;
let sent: Outcome | undefined = undefined;

const steps = Array.from({ length: STEPS }, (_, index) => nothingStep(index));
const router = new Router([{ method: 'POST', path: '/v1/translate', takesBody: true, steps }], steps.slice(0, 1));
const gateway = new Gateway({ router, around: [], newId: () => SAMPLE_ID, now: () => 0, requestMs: 60_000, reportBug: fail });
const sink = {
  send: (_x: unknown, outcome: Outcome): Handed => {
    sent = outcome;
    return 'written';
  },
  stream: () => undefined,
  incoming: () => undefined,
  remoteAddress: () => '',
};

export const pipeline: MicroCase = {
  name: 'pipeline',
  floorDoes: 'the same eight steps called one after the other',
  run() {
    const x = gateway.begin(sampleHead, sink);
    gateway.body(x, SAMPLE_BYTES);
    return x;
  },
  floor() {
    const x = { id: SAMPLE_ID, head: sampleHead, body: SAMPLE_BYTES };
    let outcome: Outcome | undefined;
    for (let i = 0; i < STEPS; i++) outcome = i === STEPS - 1 ? ANSWER : undefined;
    for (let i = STEPS - 1; i >= 0; i--) settled++;
    sink.send(x, outcome!);
    return x;
  },
  check() {
    settled = 0;
    sent = undefined;
    const x = gateway.begin(sampleHead, sink);
    gateway.body(x, SAMPLE_BYTES);
    assert.equal(sent, ANSWER);
    assert.equal(settled, STEPS);
    assert.equal(x.waiting, false);
    assert.equal(gateway.inFlight, 0);
  },
};

function nothingStep(index: number): Step {
  const settle = (): void => {
    settled++;
  };
  const name = `step-${index}`;
  if (index < HEAD_STEPS) return { kind: 'head', name, run: () => undefined, settle };
  return { kind: 'body', name, run: () => (index === STEPS - 1 ? ANSWER : undefined), settle };
}

function fail(_x: unknown, where: string, error: unknown): void {
  throw new Error(`a bug in ${where}`, { cause: error });
}
