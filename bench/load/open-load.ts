// Requests fall due at a steady rate; latency counts from then, so a stall counts for every request that had to wait.
import { Histogram } from './histogram.ts';
import type { LoadConnection, OnAnswer } from './load-connection.ts';
import type { LoadResult } from './load-job.ts';
import { Metronome } from './metronome.ts';

const BEAT_MS = 0.1;
/** A request that is unanswered this long after the end never will be. */
const PATIENCE_MS = 5000;

interface OpenLoad {
  readonly onAnswer: OnAnswer;
  readonly done: Promise<LoadResult>;
}

export function openLoad(
  connections: readonly LoadConnection[],
  requests: readonly Buffer[],
  perSecond: number,
  durationMs: number,
): OpenLoad {
  const latencies = new Histogram();
  const lateness = new Histogram();
  const { promise, resolve } = Promise.withResolvers<LoadResult>();
  const free = [...connections];
  const total = Math.round((perSecond * durationMs) / 1000);
  const startedMs = performance.now();
  let [sent, ended, faults] = [0, 0, 0];
  let fault: string | undefined = undefined;

  const isDue = (now: number): boolean => sent < total && startedMs + (sent * 1000) / perSecond <= now;
  const send = (connection: LoadConnection): void => {
    connection.dueMs = startedMs + (sent * 1000) / perSecond;
    connection.send(requests[sent % requests.length]!);
    sent++;
  };
  const sendDue = (): void => {
    const now = performance.now();
    while (free.length > 0 && isDue(now)) {
      const connection = free.pop()!;
      send(connection);
      lateness.recordMs(now - connection.dueMs);
    }
    if (ended === total || now > startedMs + durationMs + PATIENCE_MS) finish();
  };
  const metronome = new Metronome(BEAT_MS, sendDue);
  const finish = (): void => {
    void metronome.stop();
    faults += total - ended;
    const unanswered = ended < total ? `${total - ended} requests had no answer ${PATIENCE_MS} ms after the end` : undefined;
    const elapsedMs = performance.now() - startedMs;
    resolve({
      answers: latencies.total,
      faults,
      fault: fault ?? unanswered,
      elapsedMs,
      latencies: latencies.pack(),
      lateness: lateness.pack(),
    });
  };
  const onAnswer: OnAnswer = (connection, problem) => {
    const now = performance.now();
    ended++;
    if (problem === undefined) latencies.recordMs(now - connection.dueMs);
    else {
      faults++;
      fault ??= problem;
    }
    if (isDue(now)) send(connection);
    else free.push(connection);
  };
  return { onAnswer, done: promise };
}
