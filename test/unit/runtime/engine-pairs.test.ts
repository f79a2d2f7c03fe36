// The pairs that engines report: requested at the start, every ten minutes and after a reload, without any request waiting for it.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { capabilitiesOf } from '../../../src/domain/translation-options.ts';
import type { LanguageTable } from '../../../src/domain/languages.ts';
import type { AttemptFailure, ReplicaPairs } from '../../../src/ports/engine.ts';
import type { LogFields } from '../../../src/ports/log.ts';
import { OfferedLanguages } from '../../../src/runtime/offered-languages.ts';

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

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  [lines, asked] = [[], []];
});
afterEach(() => void vi.useRealTimers());

const take = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
const log = { info: take, warn: take, error: take };

function open(): OfferedLanguages {
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
  return new OfferedLanguages({
    config: { table: TABLE, pairs: new Map([['default', 'ask']]), rules: undefined },
    engines: [{ name: 'default', can: capabilitiesOf(), ask }],
    log,
    adviceFor: ({ failure }) => `about ${failure}`,
  });
}

function testOf(report: Report): ReplicaPairs['pairs'] {
  return typeof report === 'string' ? { failure: report } : (source, target) => report.includes(`${source}-${target}`);
}

function pairsOf({ current }: OfferedLanguages): string[] {
  return TABLE.sources.flatMap(({ code }) =>
    TABLE.targets.filter((target) => current.any.languages.offers(code, target.code)).map((target) => `${code}-${target.code}`),
  );
}

/** Runs the only timer, and says after how many milliseconds. */
function pass(): number {
  expect(vi.getTimerCount()).toBe(1);
  const before = Date.now();
  vi.advanceTimersToNextTimer();
  return Date.now() - before;
}

const TEN_MINUTES = 600_000;
const RETAINED = 'an engine replica did not report its pairs: the known ones stay in use';

describe('ask', () => {
  test.each(['timeout', 'connect', 'not_json', 'wrong_shape', 'status'] as const)(
    'an engine that answers with %s keeps its last known pairs, is logged once, and is asked again with growing pauses',
    async (failure) => {
      const offered = open();
      await asked.pop()!({ a: ['EN-ES'] });
      pass();
      const pauses: number[] = [];
      for (let i = 0; i < 10; i++) {
        await asked.pop()!({ a: failure });
        expect(pairsOf(offered)).toEqual(['EN-ES']);
        pauses.push(pass());
      }
      expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, TEN_MINUTES, TEN_MINUTES, TEN_MINUTES]);
      expect(lines.slice(1)).toEqual([[RETAINED, { engine: 'default', replica: 'a', failure, advice: `about ${failure}` }]]);
      await asked.pop()!({ a: ['EN-FR'] });
      expect(pairsOf(offered)).toEqual(['EN-FR']);
      expect(pass()).toBe(TEN_MINUTES);
    },
  );

  test('a list without any of our pairs is ignored, because the engine may be loading', async () => {
    const offered = open();
    await asked.pop()!({ a: [] });
    expect(pairsOf(offered)).toHaveLength(ALL);
    expect(lines).toEqual([[RETAINED, { engine: 'default', replica: 'a', failure: 'no_pair_of_ours' }]]);
    pass();
    await asked.pop()!({ a: ['EN-ES'] });
    pass();
    await asked.pop()!({ a: ['XX-YY'] });
    expect(pairsOf(offered)).toEqual(['EN-ES']);
  });

  test('the pairs of all replicas are combined; for a silent one its last answer counts', async () => {
    const offered = open();
    await asked.pop()!({ a: ['EN-ES'], b: ['EN-FR'], c: 'timeout' });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'EN-FR']);
    expect(pass()).toBe(5000);
    await asked.pop()!({ a: 'connect', b: [], c: ['ES-FR'] });
    expect(pairsOf(offered)).toEqual(['EN-ES', 'EN-FR', 'ES-FR']);
  });
});
