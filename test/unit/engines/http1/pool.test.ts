// The pool of a replica: connections and a queue, calls aborted at every stage, and a hundred callers over failing connections.
import { afterEach, describe, expect, test } from 'vitest';
import { lengthAnswer, make, RawEngine, rested, wireTo } from '../raw-engine.ts';
import type { Made, RawConnection } from '../raw-engine.ts';
import type { Pool, PoolLimits } from '../../../../src/engines/http1/pool.ts';
import { seeded } from '../../../evidence/faults/seeded.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

async function scene(limits: Partial<PoolLimits> = {}): Promise<{ engine: RawEngine; wire: Pool }> {
  const engine = await new RawEngine().listen();
  const wire = wireTo(`http://127.0.0.1:${engine.port}`, limits);
  open.push(engine, { close: () => wire.destroy() });
  return { engine, wire };
}

const makeMany = (wire: Pool, count: number): Made[] => Array.from({ length: count }, (_, i) => make(wire, { body: String(i) }));
const results = (made: readonly Made[]): Promise<string[]> => Promise.all(made.map(({ result }) => result));
const hang = (): void => undefined;

describe('bounds', () => {
  test('there are at most connectionsMax connections and queueMax waiting calls', async () => {
    const { engine, wire } = await scene({ connectionsMax: 2, queueMax: 3 });
    const settled = await results(makeMany(wire, 8));
    expect(settled).toEqual(['200 0', '200 1', '200 2', '200 3', '200 4', 'busy', 'busy', 'busy']);
    expect(engine.connections).toHaveLength(2);
  });

  test('without a queue a call may still be made in the callback of the one before', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1, queueMax: 0 });
    for (let i = 0; i < 5; i++) expect(await make(wire).result).toBe('200 body');
    expect(engine.connections).toHaveLength(1);
    engine.respond = hang;
    await rested();
    expect(await results([make(wire), make(wire)].slice(1))).toEqual(['busy']);
  });

  test('idle connections count: a new one replaces the oldest', async () => {
    const { engine, wire } = await scene({ connectionsMax: 3 });
    await results(makeMany(wire, 3));
    await rested();
    expect(engine.open).toBe(3);
    engine.respond = hang;
    const made = make(wire, {}, 'fresh');
    await engine.until(() => engine.connections.length === 4 && engine.open === 3);
    made.call.stop('cancelled');
    await engine.until(() => engine.open === 2);
  });

  test('calls that have waited for more than half their time are refused when a connection is free', async () => {
    let nowMs = 0;
    const { engine, wire } = await scene({ connectionsMax: 1, timeoutMs: 100, nowMs: () => nowMs });
    engine.respond = hang;
    const first = make(wire);
    const early = make(wire);
    nowMs = 40;
    const late = make(wire, { body: 'late' });
    await engine.until(() => engine.connections[0]?.requests === 1);
    nowMs = 60;
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body));
    first.call.stop('timeout');
    expect(await results([first, early, late])).toEqual(['timeout', 'busy', '200 late']);
  });
});

describe('an aborted call', () => {
  test('while it waits leaves the queue', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1, queueMax: 1 });
    const [first, second] = [make(wire), make(wire)];
    expect(second.call.stage).toBe('waiting');
    second.call.stop('cancelled');
    expect(await results([first, second, make(wire)])).toEqual(['200 body', 'cancelled', '200 body']);
    expect(engine.connections.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
  });

  test('while its connection opens frees that at once and is never sent', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1, queueMax: 0 });
    const given = make(wire, { body: 'given up' });
    expect(given.call.stage).toBe('connecting');
    given.call.stop('cancelled');
    expect(await results([given, make(wire)])).toEqual(['cancelled', '200 body']);
    expect(engine.connections.map(({ received }) => received).join('')).not.toContain('given up');
  });

  test.each([
    ['before its answer', ''],
    ['inside the head', 'HTTP/1.1 200 OK\r\nX'],
    ['inside the body', lengthAnswer('body').slice(0, -2)],
  ])('%s loses its connection, which is not reused', async (_name, bytes) => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    engine.respond = ({ socket }) => void (bytes !== '' && socket.write(bytes));
    const given = make(wire);
    const next = make(wire, { body: 'next' });
    await engine.until(() => engine.connections[0]?.requests === 1);
    expect(given.call.stage).toBe('sent');
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body));
    given.call.stop('timeout');
    given.call.stop('cancelled');
    // The answer of the aborted call is sent after all.
    engine.connections[0]!.socket.write(lengthAnswer('too late'));
    expect(await results([given, next])).toEqual(['timeout', '200 next']);
    expect(engine.connections.map(({ requests }) => requests)).toEqual([1, 1]);
  });

  test('after its answer changes nothing, not even for the next call on that connection', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    const first = make(wire);
    await first.result;
    await rested();
    const second = make(wire, { body: 'second' });
    first.call.stop('cancelled');
    expect(await results([first, second])).toEqual(['200 body', '200 second']);
    expect(engine.connections).toHaveLength(1);
  });
});

test('a hundred callers each get their own answer or a failure, whatever breaks, and no connection is lost', async () => {
  const { engine, wire } = await scene({ connectionsMax: 10, queueMax: 100, timeoutMs: 20_000 });
  const random = seeded();
  const dice = (sides: number): number => random.between(0, sides - 1);
  engine.respond = (connection, body) => misbehave(connection, body, dice(12));
  const kinds: Record<string, number> = {};
  const caller = async (name: number): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      const body = `${name}/${i} ${'x'.repeat(dice(200))}`;
      const made = make(wire, { body }, dice(5) === 0 ? 'fresh' : 'reused');
      if (dice(20) === 0) setImmediate(() => made.call.stop('cancelled'));
      const result = await made.result;
      if (result.startsWith('200')) expect(result).toBe(`200 ${body}`);
      const kind = result.slice(0, 3);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 100 }, (_, name) => caller(name)));
  // `unasked` only where the first poison followed an answer on a reused connection: from then on none is reused.
  expect(
    Object.keys(kinds)
      .filter((kind) => kind !== 'una')
      .toSorted(),
  ).toEqual(['200', 'can', 'res']);
  expect(kinds['200']).toBeGreaterThan(1000);
  await rested();
  expect(engine.open).toBeLessThanOrEqual(10);
  engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body));
  expect(await results(makeMany(wire, 10))).toEqual(Array.from({ length: 10 }, (_, i) => `200 ${i}`));
});

function misbehave({ socket }: RawConnection, body: string, kind: number): void {
  const answer = lengthAnswer(body);
  const half = Math.floor(answer.length / 2);
  if (kind === 0) socket.end();
  else if (kind === 1) socket.resetAndDestroy();
  else if (kind === 2) socket.end(answer.slice(0, half));
  else if (kind === 3) socket.write(`${answer}${lengthAnswer('poison')}`);
  else if (kind === 4) socket.end(answer);
  else if (kind === 5) socket.end(lengthAnswer(body, 'Connection: close\r\n'));
  else if (kind === 6) {
    socket.write(answer.slice(0, half));
    setImmediate(() => socket.write(answer.slice(half)));
  } else socket.write(answer);
}

describe('closing', () => {
  test('lets running and waiting calls end, and keeps no connection', async () => {
    const { engine, wire } = await scene({ connectionsMax: 2 });
    await results(makeMany(wire, 2));
    await rested();
    const held: (() => void)[] = [];
    engine.respond = ({ socket }, body) => void held.push(() => socket.write(lengthAnswer(body)));
    const made = makeMany(wire, 3);
    const closed = wire.close();
    await engine.until(() => held.length === 2);
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body));
    for (const answer of held) answer();
    expect(await results(made)).toEqual(['200 0', '200 1', '200 2']);
    await closed;
    await engine.until(() => engine.open === 0);
  });

  test('closes idle connections, and those that rest after an answer, at once', async () => {
    const { engine, wire } = await scene();
    expect(await results(makeMany(wire, 2))).toEqual(['200 0', '200 1']);
    await wire.close();
    await engine.until(() => engine.open === 0);
  });

  test('by force aborts everything, and further calls fail to connect', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    engine.respond = hang;
    const made = makeMany(wire, 3);
    await engine.until(() => engine.connections[0]?.requests === 1);
    await wire.destroy();
    expect(await results([...made, make(wire)])).toEqual(['reset', 'connect', 'connect', 'connect']);
    await engine.until(() => engine.open === 0);
  });
});
