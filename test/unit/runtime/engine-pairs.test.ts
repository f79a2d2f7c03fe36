// The pairs that engines report: requested at the start, every ten minutes and after a reload, without any request waiting for it.
import { beforeEach, describe, expect, test } from 'vitest';
import { capabilitiesOf } from '../../../src/domain/engine-capabilities.ts';
import type { LanguageTable } from '../../../src/domain/languages.ts';
import type { AttemptFailure, ReplicaPairs } from '../../../src/ports/engine.ts';
import type { LogFields } from '../../../src/ports/log.ts';
import { OfferedLanguages } from '../../../src/runtime/offered-languages.ts';
import type { OfferedByConfig } from '../../../src/runtime/offered-languages.ts';
import type { PairsMode } from '../../../src/runtime/engine-pairs.ts';

const TABLE: LanguageTable = {
  sources: ['EN', 'ES', 'FR'].map((code) => ({ code, name: code })),
  targets: ['EN-GB', 'ES', 'FR'].map((code) => ({ code, name: code, formality: false })),
};
const ALL = 9;

/** A replica's report: pairs, or why there is none. */
type Report = readonly string[] | AttemptFailure;

let lines: (readonly [string, LogFields | undefined])[];
/** Requests that have not been answered yet. */
let asked: ((answers: Readonly<Record<string, Report>>) => Promise<void>)[];
/** Timers: what is to run, and after how many milliseconds. */
let timers: { readonly run: () => void; readonly ms: number }[];

beforeEach(() => {
  [lines, asked, timers] = [[], [], []];
});

const take = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
const log = { info: take, warn: take, error: take };

function open(pairs: PairsMode, canTell = true): OfferedLanguages {
  const ask = (): Promise<readonly ReplicaPairs[]> => {
    const { promise, resolve } = Promise.withResolvers<readonly ReplicaPairs[]>();
    asked.push(async (answers) => {
      resolve(Object.entries(answers).map(([url, report]) => ({ url, pairs: testOf(report) })));
      await promise;
      // One turn for code that waits for it.
      await new Promise((done) => setImmediate(done));
    });
    return promise;
  };
  const later = (run: () => void, ms: number): (() => void) => {
    const timer = { run, ms };
    timers.push(timer);
    return () => (timers = timers.filter((one) => one !== timer));
  };
  const can = capabilitiesOf();
  const engines = [{ name: 'default', can, ask: canTell ? ask : undefined }];
  return new OfferedLanguages({
    config: said(TABLE, pairs),
    engines,
    isOne: true,
    log,
    adviceFor: ({ failure }) => `about ${failure}`,
    later,
  });
}

/** The offer by configuration. */
function said(table: LanguageTable, pairs: PairsMode): OfferedByConfig {
  return { table, pairs: new Map([['default', pairs]]), rules: undefined };
}

function testOf(report: Report): ReplicaPairs['pairs'] {
  return typeof report === 'string' ? report : (source, target) => report.includes(`${source}-${target}`);
}

function pairsOf({ current }: OfferedLanguages, table = TABLE): string[] {
  return table.sources.flatMap(({ code }) =>
    table.targets.filter((target) => current.any.languages.offers(code, target.code)).map((target) => `${code}-${target.code}`),
  );
}

/** Runs the timer that is set. */
function pass(): number {
  expect(timers).toHaveLength(1);
  const { run, ms } = timers.pop()!;
  run();
  return ms;
}

const TEN_MINUTES = 600_000;

describe('ask', () => {
  test('everything is offered until the engine has answered; then what it reported, with one log line', async () => {
    const offered = open('ask');
    expect(pairsOf(offered)).toHaveLength(ALL);
    await asked.pop()!({ a: ['EN-ES', 'ES-EN-GB'] });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'ES-EN-GB']);
    expect(lines).toEqual([['the pairs that the engine offers have changed', { engine: 'default', count: 2, pairs: 'EN-ES ES-EN-GB' }]]);
  });

  test('it is asked again every ten minutes; the list is the same object until something changes', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: ['EN-ES'] });
    const before = offered.current;
    expect(pass()).toBe(TEN_MINUTES);
    await asked.pop()!({ a: ['EN-ES'] });
    expect(offered.current).toBe(before);
    expect(pass()).toBe(TEN_MINUTES);
    await asked.pop()!({ a: ['EN-ES', 'EN-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'EN-FR']);
    expect(lines).toHaveLength(2);
  });

  test.each(['timeout', 'connect', 'not_json', 'wrong_shape', 'status'] as const)(
    'an engine that answers with %s keeps its last known pairs, is logged once, and is asked again with growing pauses',
    async (failure) => {
      const offered = open('ask');
      await asked.pop()!({ a: ['EN-ES'] });
      pass();
      const pauses: number[] = [];
      for (let i = 0; i < 10; i++) {
        await asked.pop()!({ a: failure });
        expect(pairsOf(offered)).toEqual(['EN-ES']);
        pauses.push(pass());
      }
      expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, TEN_MINUTES, TEN_MINUTES, TEN_MINUTES]);
      expect(lines.slice(1)).toEqual([
        ['an engine replica did not report its pairs: the known ones are kept', { engine: 'default', replica: 'a', failure }],
      ]);
      await asked.pop()!({ a: ['EN-FR'] });
      expect(pairsOf(offered)).toEqual(['EN-FR']);
      expect(pass()).toBe(TEN_MINUTES);
    },
  );

  test('with an engine that has never answered everything is offered', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: 'connect' });
    expect(pairsOf(offered)).toHaveLength(ALL);
  });

  test('a list without any of our pairs is ignored, because the engine may be loading', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: [] });
    expect(pairsOf(offered)).toHaveLength(ALL);
    expect(lines).toEqual([
      [
        'an engine replica did not report its pairs: the known ones are kept',
        { engine: 'default', replica: 'a', failure: 'no_pair_of_ours' },
      ],
    ]);
    pass();
    await asked.pop()!({ a: ['EN-ES'] });
    pass();
    await asked.pop()!({ a: ['XX-YY'] });
    expect(pairsOf(offered)).toEqual(['EN-ES']);
  });

  test('the pairs of all replicas are combined; for a silent one its last answer counts', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: ['EN-ES'], b: ['EN-FR'], c: 'timeout' });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'EN-FR']);
    expect(pass()).toBe(5000);
    await asked.pop()!({ a: 'connect', b: [], c: ['ES-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'EN-FR', 'ES-FR']);
  });

  test('the pairs of a removed replica are forgotten', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: ['EN-ES'], b: ['EN-FR'] });
    offered.replace(said(TABLE, 'ask'));
    await asked.pop()!({ b: ['EN-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-FR']);
  });

  test('a reload asks again at once, and ignores answers to earlier requests, whose replicas may be others', async () => {
    const offered = open('ask');
    const before = asked.pop()!;
    offered.replace(said(TABLE, 'ask'));
    const after = asked.pop()!;
    await before({ a: ['EN-ES'] });
    expect([pairsOf(offered).length, timers.length]).toEqual([ALL, 0]);
    await after({ b: ['EN-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-FR']);
    // One timer, which the next request replaces.
    expect(timers).toHaveLength(1);
    offered.ask();
    expect([asked.length, timers.length]).toEqual([1, 0]);
  });

  test('another list of languages is applied to the known pairs at once', async () => {
    const offered = open('ask');
    await asked.pop()!({ a: ['EN-ES', 'EN-DE'] });
    const german = { ...TABLE, targets: [{ code: 'DE', name: 'German', formality: false }] };
    offered.replace(said(german, 'ask'));
    expect(pairsOf(offered, german)).toEqual(['EN-DE']);
    // None of the known pairs is in this one.
    const greek = { ...TABLE, targets: [{ code: 'EL', name: 'Greek', formality: false }] };
    offered.replace(said(greek, 'ask'));
    expect(pairsOf(offered, greek)).toHaveLength(3);
  });

  test('nothing is requested after it is closed, and a later answer changes nothing', async () => {
    const offered = open('ask');
    const answer = asked.pop()!;
    offered.close();
    await answer({ a: ['EN-ES'] });
    offered.ask();
    expect([pairsOf(offered).length, asked.length, timers.length]).toEqual([ALL, 0, 0]);
  });

  test('an engine that cannot report pairs is not asked', () => {
    expect(pairsOf(open('ask', false))).toHaveLength(ALL);
    expect(asked).toEqual([]);
  });
});

describe('any and a list', () => {
  test('ask no engine', () => {
    expect(pairsOf(open('any'))).toHaveLength(ALL);
    expect(pairsOf(open(['ES-EN', 'EN-FR']))).toEqual(['EN-FR', 'ES-EN-GB']);
    expect([asked, timers, lines]).toEqual([[], [], []]);
  });

  test('can replace each other in a reload', async () => {
    const offered = open('any');
    offered.replace(said(TABLE, ['EN-ES']));
    expect(pairsOf(offered)).toEqual(['EN-ES']);
    offered.replace(said(TABLE, 'ask'));
    expect(pairsOf(offered)).toHaveLength(ALL);
    await asked.pop()!({ a: ['EN-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-FR']);
    offered.replace(said(TABLE, 'any'));
    expect(pairsOf(offered)).toHaveLength(ALL);
  });
});
