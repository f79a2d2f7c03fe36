// The last 15 minutes of a running gateway, in steps of five seconds.
import type { Static } from 'typebox';
import { rfc3339 } from '../../domain/period.ts';
import { Type } from '../../domain/typebox.ts';
import { moment, whole } from '../fields.ts';
import { operation } from '../operation.ts';

const LiveAnswer = Type.Object({
  step_seconds: whole,
  points: Type.Array(
    Type.Object({
      at: moment,
      requests: Type.Record(Type.String(), whole, {
        description: 'By problem code; `ok` for answers, `client_closed` for callers who disconnected.',
      }),
      p50_ms: Type.Union([Type.Number(), Type.Null()]),
      p99_ms: Type.Union([Type.Number(), Type.Null()]),
      characters: whole,
      engine_failures: Type.Integer({ minimum: 0, description: 'Failed attempts at the engine.' }),
      in_flight: Type.Integer({ minimum: 0, description: 'The highest number within the step.' }),
    }),
  ),
});
export type LiveReport = Static<typeof LiveAnswer>;

/** The figures of one step of five seconds; `app/` adds up those of all processes. */
export interface StepFigures {
  readonly atMs: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly characters: number;
  readonly engineFailures: number;
  readonly inFlight: number;
}

export function liveReport(stepSeconds: number, steps: readonly StepFigures[]): LiveReport {
  return {
    step_seconds: stepSeconds,
    points: steps.map((step) => ({
      at: rfc3339(step.atMs),
      requests: step.requests,
      p50_ms: step.p50Ms,
      p99_ms: step.p99Ms,
      characters: step.characters,
      engine_failures: step.engineFailures,
      in_flight: step.inFlight,
    })),
  };
}

const live = operation({
  id: 'live',
  http: 'GET /live',
  summary: 'Shows the last 15 minutes in steps of 5 seconds.',
  input: {},
  row: LiveAnswer,
  run: (context) => context.part('live')(),
});

export const operations = [live];
