// The pipeline: the order of steps, settling, and steps that misbehave.
import { describe, expect, test } from 'vitest';
import type { Exchange, RequestHead, Sink } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json, LATER } from '../../../src/core/outcome.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep, HeadStep, Step } from '../../../src/core/step.ts';

const HEAD: RequestHead = { method: 'POST', path: '/x', query: '', headers: {} };

interface Harness {
  readonly gateway: Gateway;
  readonly sent: Outcome[];
  readonly bugs: string[];
  readonly sink: Sink;
  advance(ms: number): void;
}

function harness(steps: readonly Step[], requestMs = 1000): Harness {
  let nowMs = 0;
  const sent: Outcome[] = [];
  const bugs: string[] = [];
  const gateway = new Gateway({
    router: new Router([{ method: 'POST', path: '/x', takesBody: true, steps }]),
    around: [],
    newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    now: () => nowMs,
    requestMs,
    reportBug: (_x, where) => bugs.push(where),
  });
  return {
    gateway,
    sent,
    bugs,
    sink: {
      send: (_x, outcome) => (sent.push(outcome), 'written'),
      stream: () => undefined,
      incoming: () => undefined,
      remoteAddress: () => '',
    },
    advance: (ms) => (nowMs += ms),
  };
}

function head(name: string, run: HeadStep['run'], settle?: HeadStep['settle']): HeadStep {
  return settle === undefined ? { kind: 'head', name, run } : { kind: 'head', name, run, settle };
}

function body(name: string, run: BodyStep['run'], settle?: BodyStep['settle']): BodyStep {
  return settle === undefined ? { kind: 'body', name, run } : { kind: 'body', name, run, settle };
}

function go(h: Harness): Exchange {
  const x = h.gateway.begin(HEAD, h.sink);
  h.gateway.body(x, new Uint8Array());
  return x;
}

const OK = json('{}');

/** A step that answers when `letGo` is called. */
function later(): { readonly run: BodyStep['run']; letGo(outcome?: Outcome): void } {
  const waiting: Exchange[] = [];
  return {
    run: (x) => {
      waiting.push(x);
      return LATER;
    },
    letGo: (outcome) => waiting.shift()!.resume(() => outcome, undefined),
  };
}

describe('steps that identify the caller', () => {
  const LONG = 32_769;
  const refusal = refuse('unauthorized', 'no');

  test('run before the body has arrived, and may refuse then', () => {
    const settled: string[] = [];
    const h = harness([
      { kind: 'caller', name: 'who', run: () => refusal, settle: () => void settled.push('who') },
      body('read', () => OK),
    ]);
    const x = h.gateway.begin(HEAD, h.sink);
    expect([h.sent, settled, h.gateway.inFlight]).toEqual([[refusal], ['who'], 0]);
    h.gateway.body(x, new Uint8Array());
    expect(h.sent).toEqual([refusal]);
  });

  test.each(['before', 'after'])('are waited for, and so is a body that arrives %s their answer', (when) => {
    const who = later();
    const h = harness([{ kind: 'caller', name: 'who', run: who.run }, body('read', (x) => json(`"${(x.body as Uint8Array).length}"`))]);
    const x = h.gateway.begin(HEAD, h.sink);
    if (when === 'after') who.letGo();
    expect(h.sent).toEqual([]);
    h.gateway.body(x, new Uint8Array(3));
    if (when === 'before') {
      expect(h.sent).toEqual([]);
      who.letGo();
    }
    expect(h.sent).toEqual([json('"3"')]);
  });

  test('are told once that a body is long: by its announced length, or while it arrives', () => {
    const seen: string[] = [];
    const h = harness([
      { kind: 'caller', name: 'who', run: ({ longBody }) => void seen.push(`run ${longBody}`), longBody: () => void seen.push('long') },
      body('read', () => OK),
    ]);
    const announced = h.gateway.begin(HEAD, h.sink, LONG);
    h.gateway.longBody(announced);
    const short = h.gateway.begin(HEAD, h.sink, LONG - 1);
    const unknown = h.gateway.begin(HEAD, h.sink);
    h.gateway.longBody(unknown);
    h.gateway.longBody(unknown);
    for (const x of [announced, short, unknown]) h.gateway.body(x, new Uint8Array());
    h.gateway.longBody(short);
    expect(seen).toEqual(['run true', 'run false', 'run false', 'long']);
    expect(h.sent).toEqual([OK, OK, OK]);
  });

  test('may refuse a body that turns out to be long, at once or later; until then its bytes are kept', () => {
    const long = later();
    const h = harness([{ kind: 'caller', name: 'who', run: () => undefined, longBody: long.run }, body('read', () => OK)]);
    const refused = h.gateway.begin(HEAD, h.sink);
    h.gateway.longBody(refused);
    long.letGo(refusal);
    const good = h.gateway.begin(HEAD, h.sink);
    h.gateway.longBody(good);
    h.gateway.body(good, new Uint8Array());
    expect(h.sent).toEqual([refusal]);
    long.letGo();
    expect(h.sent).toEqual([refusal, OK]);
    expect(h.gateway.inFlight).toBe(0);
  });

  test('that throw because of a long body are a bug, and an internal_error', () => {
    const h = harness([
      {
        kind: 'caller',
        name: 'who',
        run: () => undefined,
        longBody: () => {
          throw new Error('secret');
        },
      },
      body('read', () => OK),
    ]);
    h.gateway.longBody(h.gateway.begin(HEAD, h.sink));
    expect(h.bugs).toEqual(['who']);
    expect(h.sent).toMatchObject([{ problem: { code: 'internal_error' } }]);
  });

  test('are followed by the entry, after the complete body: no unknown caller or incomplete request takes a place', () => {
    const who = later();
    let held = 0;
    const taken = new Set<Exchange>();
    const gate: HeadStep = {
      kind: 'head',
      name: 'gate',
      run: () => undefined,
      enter: (x) => {
        if (held === 1) return refusal;
        held++;
        taken.add(x);
        return undefined;
      },
      settle: (x) => {
        if (taken.delete(x)) held--;
      },
    };
    const work = later();
    const h = harness([gate, { kind: 'caller', name: 'who', run: who.run }, body('work', work.run), body('answer', () => OK)]);
    const [unknown, unfinished, first, second] = Array.from({ length: 4 }, () => h.gateway.begin(HEAD, h.sink)) as [
      Exchange,
      Exchange,
      Exchange,
      Exchange,
    ];
    h.gateway.body(unknown, new Uint8Array());
    who.letGo(refusal);
    who.letGo();
    expect(held).toBe(0);
    for (const x of [first, second]) {
      h.gateway.body(x, new Uint8Array());
      who.letGo();
    }
    expect([held, h.sent]).toEqual([1, [refusal, refusal]]);
    h.gateway.abort(unfinished);
    work.letGo();
    expect([held, h.sent.length, h.gateway.inFlight]).toEqual([0, 3, 0]);
  });

  test('come before the entry even after a step that needs the body', () => {
    const order: string[] = [];
    const note = (name: string) => (): undefined => void order.push(name);
    const h = harness([
      { kind: 'head', name: 'gate', run: note('gate'), enter: note('enter') },
      body('key', note('key')),
      { kind: 'caller', name: 'who', run: note('who') },
      body('work', () => OK),
    ]);
    const x = h.gateway.begin(HEAD, h.sink);
    expect(order).toEqual(['gate']);
    h.gateway.body(x, new Uint8Array());
    expect(order).toEqual(['gate', 'key', 'who', 'enter']);
  });
});

describe('the pipeline', () => {
  test('every step that was reached is settled once, last one first, with the outcome', () => {
    const settled: string[] = [];
    const note = (name: string) => (_x: Exchange, outcome: Outcome) => void settled.push(`${name}:${outcome.kind}`);
    const refusal = refuse('key_revoked', 'no');
    const h = harness([
      head('a', () => undefined, note('a')),
      body('b', () => undefined, note('b')),
      body('c', () => refusal, note('c')),
      body('d', () => OK, note('d')),
    ]);
    go(h);
    expect(settled).toEqual(['c:problem', 'b:problem', 'a:problem']);
    expect(h.sent).toEqual([refusal]);
  });

  test.each<[string, BodyStep['run']]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['answers nothing at the end', () => undefined],
  ])('a last step that %s is an internal_error without details, and is reported', async (_name, run) => {
    const h = harness([body('broken', run)]);
    go(h);
    await h.gateway.idle();
    expect(h.sent).toMatchObject([{ kind: 'problem', problem: { code: 'internal_error' } }]);
    expect(JSON.stringify(h.sent)).not.toContain('secret');
    expect(h.bugs).toHaveLength(1);
  });

  // oxlint-disable-next-line unicorn/no-thenable -- what a plugin may return by mistake
  const MALFORMED: readonly unknown[] = [null, {}, { kind: 'done' }, 'ok', 200, { then: () => undefined }];
  test.each(MALFORMED)('a step that returns %j, at once or later, is a bug and answered', async (given) => {
    const isThenable = typeof given === 'object' && given !== null && 'then' in given;
    const runs: BodyStep['run'][] = [() => given as Outcome, () => Promise.resolve(isThenable ? {} : given) as Promise<Outcome>];
    for (const run of runs) {
      const h = harness([body('a', run)]);
      go(h);
      await new Promise((resolve) => setImmediate(resolve));
      expect(h.sent).toMatchObject([{ problem: { code: 'internal_error' } }]);
      expect(h.bugs).toEqual(['a']);
    }
  });

  test('a settle that throws does not stop the others or the answer', () => {
    const settled: string[] = [];
    const h = harness([
      head(
        'a',
        () => undefined,
        () => void settled.push('a'),
      ),
      body(
        'b',
        () => OK,
        () => {
          throw new Error('broken');
        },
      ),
    ]);
    go(h);
    expect(settled).toEqual(['a']);
    expect(h.sent).toEqual([OK]);
    expect(h.bugs).toEqual(['b.settle']);
  });

  test('a caller who leaves while a step waits is settled as closed only after that step has returned', async () => {
    const settled: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    let calledOff = false;
    const h = harness([
      body(
        'wait',
        (x) => {
          x.onCancel(() => {
            calledOff = true;
          });
          return gate.promise;
        },
        (_x, outcome) => void settled.push(outcome.kind),
      ),
      body('answer', () => OK),
    ]);
    const x = go(h);
    h.gateway.abort(x);
    expect(calledOff).toBe(true);
    expect(settled).toEqual([]);
    gate.resolve(undefined);
    await h.gateway.idle();
    expect(settled).toEqual(['client_closed']);
    expect(h.sent).toEqual([]);
  });

  test('a caller who leaves before the body is complete is settled at once', () => {
    const settled: string[] = [];
    const h = harness([
      head(
        'a',
        () => undefined,
        (_x, outcome) => void settled.push(outcome.kind),
      ),
      body('b', () => OK),
    ]);
    const x = h.gateway.begin(HEAD, h.sink);
    h.gateway.abort(x);
    h.gateway.body(x, new Uint8Array());
    expect(settled).toEqual(['client_closed']);
    expect(h.sent).toEqual([]);
    expect(h.gateway.inFlight).toBe(0);
  });
});

describe('a step that waits without a promise', () => {
  /** Two steps; the test resumes the first. */
  function waiting(conclude: (x: Exchange, value: number) => Outcome | undefined, settle?: BodyStep['settle']) {
    const h = harness([body('wait', () => LATER, settle), body('answer', () => OK)]);
    const x = go(h);
    expect([h.sent, h.gateway.inFlight]).toEqual([[], 1]);
    return { h, x, resume: () => x.resume(conclude, 1) };
  }

  test('continues with the outcome for its value, in the same tick', () => {
    const values: number[] = [];
    const on = waiting((_x, value) => void values.push(value));
    on.resume();
    expect([values, on.h.sent, on.h.gateway.inFlight]).toEqual([[1], [OK], 0]);
    const refusal = refuse('key_revoked', 'no');
    const ended = waiting(() => refusal);
    ended.resume();
    expect(ended.h.sent).toEqual([refusal]);
  });

  test('that throws for its value is an internal_error, reported under its name', () => {
    const { h, resume } = waiting(() => {
      throw new Error('secret');
    });
    resume();
    expect(h.sent).toMatchObject([{ kind: 'problem', problem: { code: 'internal_error' } }]);
    expect([h.bugs, h.gateway.inFlight]).toEqual([['wait'], 0]);
  });

  test('is settled as closed for a caller who left meanwhile, once it is resumed and not before', () => {
    const settled: string[] = [];
    const { h, x, resume } = waiting(
      () => undefined,
      (_x, outcome) => void settled.push(outcome.kind),
    );
    h.gateway.abort(x);
    expect(settled).toEqual([]);
    resume();
    expect([settled, h.sent, h.gateway.inFlight]).toEqual([['client_closed'], [], 0]);
  });

  test('may be resumed while it is cancelled, and still ends once', () => {
    const settled: string[] = [];
    const { h, x, resume } = waiting(
      () => undefined,
      (_x, outcome) => void settled.push(outcome.kind),
    );
    x.onCancel(resume);
    h.gateway.abort(x);
    expect([settled, h.sent, h.gateway.inFlight]).toEqual([['client_closed'], [], 0]);
  });

  test('an answer that waits for its turn is settled when it is written, or as closed if its caller leaves before', () => {
    for (const written of [true, false]) {
      const settled: string[] = [];
      const h = harness([
        body(
          'a',
          () => OK,
          (_x, outcome) => settled.push(outcome.kind),
        ),
      ]);
      const x = h.gateway.begin(HEAD, { ...h.sink, send: () => 'held' });
      h.gateway.body(x, 'none');
      expect([settled, h.gateway.inFlight]).toEqual([[], 1]);
      h.gateway.sent(x, OK, written);
      expect([settled, h.gateway.inFlight]).toEqual([[written ? 'reply' : 'client_closed'], 0]);
    }
  });

  test('an answer that the connection did not take is settled as closed', () => {
    const settled: string[] = [];
    const h = harness([
      body(
        'a',
        () => OK,
        (_x, outcome) => settled.push(outcome.kind),
      ),
    ]);
    h.gateway.body(h.gateway.begin(HEAD, { ...h.sink, send: () => 'gone' }), 'none');
    expect(settled).toEqual(['client_closed']);
  });
});
