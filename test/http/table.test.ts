// The HTTP table on both listeners of a real gateway: each case has its listed outcome, and nothing hidden is handled.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../support/raw-response.ts';
import { describeUws, loadUws } from '../support/door/tables.ts';
import { LISTENERS, UWS_COLUMN } from '../support/listeners.ts';
import type { UwsColumn } from '../support/listeners.ts';
import { CASES } from '../evidence/http-table/cases.ts';
import { NODE_DEVIATIONS, SHOWN_ELSEWHERE, UWS_DEVIATIONS, numbersShown } from '../evidence/http-table/deviations.ts';
import { deviatingOn, expectedOn } from '../evidence/http-table/notation.ts';
import type { HttpCase, Outcome } from '../evidence/http-table/notation.ts';
import { bytesOf, marksOf, play } from '../evidence/http-table/play.ts';
import { everyWitnessed } from '../support/plugins/witness.ts';
import { report } from '../evidence/scorecard/report.ts';
import { startWitnessedGateway } from '../evidence/http-table/witnessed-gateway.ts';
import type { WitnessedGateway } from '../evidence/http-table/witnessed-gateway.ts';

type Listener = (typeof LISTENERS)[number];

/** Concurrent cases, besides those that only wait for a timer. */
const AT_ONCE = 16;
/** A whole request that is answered: it must still work after every case. */
const CANARY = 'GET /health HTTP/1.1\r\nHost: canary\r\n\r\n';

interface Result {
  readonly outcome: Outcome;
  readonly canary: Outcome;
  readonly handled: number;
  readonly tailHandled: number;
  readonly answers: readonly HttpResponse[];
}

const gateways = new Map<Listener, WitnessedGateway>();
const results = new Map<Listener, Map<string, Result>>();

beforeAll(async () => {
  await Promise.all(
    LISTENERS.map(async (listener) => {
      const gateway = await startWitnessedGateway(listener);
      gateways.set(listener, gateway);
      results.set(listener, await playAll(gateway.port, listener));
    }),
  );
}, 120_000);

afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.stop();
});

async function playAll(port: number, listener: Listener): Promise<Map<string, Result>> {
  const all = new Map<string, Result>();
  const one = async (index: number): Promise<void> => void all.set(CASES[index]!.name, await playOne(port, listener, index));
  const delayed = (index: number): boolean => expectedOn(listener, CASES[index]!).outcome.startsWith('timer');
  const indices = [...CASES.keys()];
  const quick = indices.filter((index) => !delayed(index));
  const worker = async (): Promise<void> => {
    for (let index = quick.shift(); index !== undefined; index = quick.shift()) await one(index);
  };
  // They only wait, for up to eleven seconds: all at once, and beside the others.
  const waiting = indices.filter(delayed).map(one);
  await Promise.all([...waiting, ...Array.from({ length: AT_ONCE }, worker)]);
  return all;
}

async function playOne(port: number, listener: Listener, index: number): Promise<Result> {
  const whole = CASES[index]!;
  const marks = marksOf(listener[0]!, index);
  const { outcome, answers } = await play(port, bytesOf(whole.bytes, marks), expectedOn(listener, whole).outcome, whole.halfClose);
  const canary = await play(port, [Buffer.from(CANARY)], '200');
  const handled = (mark: string): number => everyWitnessed().filter((request) => request.mark === mark).length;
  return { outcome, answers, canary: canary.outcome, handled: handled(marks.own), tailHandled: handled(marks.tail) };
}

/** The deviations of a build. */
function numbersOf(column: UwsColumn): number[] {
  return Object.entries(UWS_DEVIATIONS)
    .filter(([, deviation]) => deviation[column] !== undefined)
    .map(([number]) => Number(number));
}

describe('the table itself', () => {
  test('has enough cases, each with a name of its own', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(150);
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  });

  test('every deviation has a number with a reason, and every number is shown by a case', () => {
    for (const column of ['older', 'newer'] as const) {
      const shown = numbersShown(CASES, 'uws', column);
      expect(shown.filter((number) => SHOWN_ELSEWHERE[column].includes(number))).toEqual([]);
      expect([...shown, ...SHOWN_ELSEWHERE[column]].toSorted((a, b) => a - b)).toEqual(numbersOf(column));
    }
    expect(numbersShown(CASES, 'node', UWS_COLUMN)).toEqual(Object.keys(NODE_DEVIATIONS).map(Number));
  });
});

describe.each(LISTENERS)('the %s listener', (listener) => {
  test.each(CASES.map((whole) => [whole.name, whole] as const))('%s', (_name, whole) => {
    const expected = expectedOn(listener, whole);
    const result = results.get(listener)!.get(whole.name)!;
    expect({ outcome: result.outcome, handled: result.handled }).toEqual(expected);
    expect(result.tailHandled).toBe(0);
    expect(result.canary).toBe('200');
  });

  test('every answer of ours is complete: request id, length, media type, and a problem document for a failure', () => {
    for (const { answers } of results.get(listener)!.values()) {
      for (const answer of answers) expectWhole(answer);
    }
  });

  test('no request was a bug, none is left in flight, and the engine never got what must not be handled', async () => {
    const { engine, logLines, opsPort } = gateways.get(listener)!;
    expect(logLines.filter((line) => line.includes('"a bug"'))).toEqual([]);
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    expect(/^lingate_requests_in_flight (\d+)/m.exec(metrics)?.[1]).toBe('0');
    const tailMark = new RegExp(`"${listener[0]!.toUpperCase()}\\d{5}"`);
    expect(engine.requests.filter(({ body }) => tailMark.test(body))).toEqual([]);
    const deviating = CASES.filter((whole) => deviatingOn(listener, whole, UWS_COLUMN) !== undefined);
    const deviations = listener === 'uws' ? numbersOf(UWS_COLUMN) : Object.keys(NODE_DEVIATIONS);
    report({
      row: 12,
      figure: `${CASES.length} cases, ${listener} listener${listener === 'uws' ? ` (${describeUws(loadUws())})` : ''}`,
      measured: `all of the expected class, ${deviating.length} of them by one of ${deviations.length} numbered deviations; 0 crashes, 0 hidden requests handled`,
      counts: { badInputs: CASES.length },
    });
  });
});

// Where no build of uWebSockets.js loads, there is one listener, and nothing to compare.
const PAIRS =
  LISTENERS.length === 2
    ? CASES.filter((whole) => LISTENERS.every((listener) => deviatingOn(listener, whole, UWS_COLUMN) === undefined))
    : [];

test.each(PAIRS.map((whole) => [whole.name, whole] as const))(
  'the two listeners, on the same bytes: %s: the same answers',
  (_name, whole: HttpCase) => {
    const [uws, node] = LISTENERS.map((listener) => results.get(listener)!.get(whole.name)!.answers.map(comparable));
    expect(uws).toEqual(node);
  },
);

function expectWhole({ status, headers, body }: HttpResponse): void {
  if (status === 100 || headers['x-request-id'] === undefined) return;
  expect(headers['x-request-id']).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  expect(headers['cache-control']).toBe('no-store');
  expect(Math.abs(Date.parse(headers['date'] ?? '') - Date.now())).toBeLessThan(120_000);
  if (status < 400 || body === '') return;
  expect(headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ status, request_id: headers['x-request-id'] });
}

/** The part of an answer that must match: all but ids, times, marks, counts, and the fields about the connection. */
function comparable({ status, headers, body }: HttpResponse): unknown {
  const fields = Object.keys(headers).filter((name) => name !== 'connection' && name !== 'keep-alive');
  const shown = body === '' ? {} : (JSON.parse(body.replaceAll(/\b[un]\d{5}\b/g, 'MARK')) as Readonly<Record<string, unknown>>);
  const { 'www-authenticate': challenge, allow } = headers;
  return { status, fields: fields.toSorted(), challenge, allow, shown: sameOnBoth(shown) };
}

function sameOnBoth(shown: Readonly<Record<string, unknown>>): unknown {
  if ('team_id' in shown) return Object.keys(shown);
  const { request_id: _id, ...rest } = shown;
  // Either the guard or the parser reports what is wrong with the framing, each in its own words.
  return rest['code'] === 'validation_error' ? { ...rest, detail: '' } : rest;
}
