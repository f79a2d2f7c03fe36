// To which call an answer belongs: foreign ids, unexpected bytes, and how a replica that sends them is treated from then on.
import { afterEach, describe, expect, test } from 'vitest';
import { lengthAnswer, make, RawEngine, rested, securedEngine, wireTo } from '../raw-engine.ts';
import type { RawConnection } from '../raw-engine.ts';
import type { Pool, PoolLimits } from '../../../../src/engines/http1/pool.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

interface Scene {
  readonly engine: RawEngine;
  readonly wire: Pool;
  /** One entry for each report of unexpected bytes: whether it began the state. */
  readonly reports: boolean[];
  nowMs: number;
}

async function scene(limits: Partial<PoolLimits> = {}, secured?: RawEngine): Promise<Scene> {
  const engine = secured ?? (await new RawEngine().listen());
  const reports: boolean[] = [];
  const made: Scene = { engine, wire: undefined as unknown as Pool, reports, nowMs: 0 };
  const onUnasked = (_replica: string, begins: boolean): void => void reports.push(begins);
  const origin = secured === undefined ? 'http://127.0.0.1' : 'https://localhost';
  const wire = wireTo(`${origin}:${engine.port}`, { nowMs: () => made.nowMs, onUnasked, ...limits });
  open.push(engine, { close: async () => wire.destroy() });
  return Object.assign(made, { wire });
}

/** An engine behind TLS that this process trusts until the test ends. */
async function trustedEngine(): Promise<RawEngine> {
  const { engine, trust } = await securedEngine();
  const distrust = trust();
  open.push({ close: () => Promise.resolve(distrust()) });
  return engine;
}

const SENT = '01KB2ZJ7Q3V5X8Y0ABCDEFGHJK';
const LARGE_BYTES = 16 << 20;
const OTHER = '01KB2ZJ7Q3V5X8Y0ABCDEFGHJM';

const idOf = (received: string): string => [...received.matchAll(/^x-request-id: (.*)\r$/gim)].at(-1)?.[1] ?? '';
const requests = ({ engine }: Scene): number[] => engine.connections.map((connection) => connection.requests);

describe('an answer', () => {
  test.each([
    ['with the id of its call', (id: string) => `X-Request-Id: ${id}\r\n`, '200 body'],
    ['with its id twice', (id: string) => `X-Request-Id: ${id}\r\nx-request-id:${id} \r\n`, '200 body'],
    ['without an id', () => '', '200 body'],
    ["with another request's id", () => `X-Request-Id: ${OTHER}\r\n`, 'foreign_id'],
    ["with another request's id in lower case", () => `X-Request-Id: ${OTHER.toLowerCase()}\r\n`, 'foreign_id'],
    ['with the id of a further call of its attempt', (id: string) => `X-Request-Id: ${id}-1-2\r\n`, 'foreign_id'],
    ["with the id of another request's call", () => `X-Request-Id: ${OTHER}-2-50\r\n`, 'foreign_id'],
    ["with its own id and another request's", (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: ${OTHER}\r\n`, 'foreign_id'],
    ["with another request's id and its own", (id: string) => `X-Request-Id: ${OTHER}\r\nX-Request-Id: ${id}\r\n`, 'foreign_id'],
    ["with its own id and another request's in one field", (id: string) => `X-Request-Id: ${id}, ${OTHER}\r\n`, 'foreign_id'],
    ["with the server's own id", () => 'X-Request-Id: req_011CSHoEeqs5C35K2UUqR7Fy\r\n', '200 body'],
    ["with the server's own id, a UUID", () => 'X-Request-Id: 2e1b7f3c-55d4-4b0f-a6f3-0f6a9c1d2e3b\r\n', '200 body'],
    ["with its own id and the server's", (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: req_1\r\n`, '200 body'],
    ["with the server's id and its own in one field", (id: string) => `X-Request-Id: req_1, ${id}\r\n`, '200 body'],
    ['with an empty id', () => 'X-Request-Id:\r\n', '200 body'],
    ['with the beginning of an id', () => `X-Request-Id: ${OTHER.slice(0, -1)}\r\n`, '200 body'],
    ['with more than an id', () => `X-Request-Id: ${OTHER}0\r\n`, '200 body'],
    ['with 26 letters that are no ULID', () => `X-Request-Id: ${'8'.repeat(26)}\r\n`, '200 body'],
    ['with its id in lower case', (id: string) => `X-Request-Id: ${id.toLowerCase()}\r\n`, '200 body'],
    ['with an id of a kibibyte', () => `X-Request-Id: ${OTHER}${' '.repeat(1000)}x\r\n`, '200 body'],
  ])('%s', async (_name, fields, result) => {
    const { engine, wire } = await scene();
    engine.respond = (connection, body) => void connection.socket.write(lengthAnswer(body, fields(idOf(connection.received))));
    expect(await make(wire, {}, 'reused', { requestId: SENT }).result).toBe(result);
    if (result === 'foreign_id') await engine.until(() => engine.open === 0);
  });

  test.each([
    ['an interim response before it', `HTTP/1.1 103 Early\r\nX-Request-Id: ${OTHER}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi`],
    ['a trailer', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Request-Id: ${OTHER}\r\n\r\n`],
    ['a refusal', `HTTP/1.1 503 No\r\nX-Request-Id: ${OTHER}\r\nContent-Length: 0\r\n\r\n`],
  ])('with another id in %s is refused', async (_name, bytes) => {
    const { engine, wire } = await scene();
    engine.respond = ({ socket }) => void socket.write(bytes);
    expect(await make(wire, {}, 'reused', { requestId: SENT }).result).toBe('foreign_id');
  });

  test('is reported to the adapter as having its id only if it has one', async () => {
    const { engine, wire } = await scene();
    const echoes: (boolean | undefined)[] = [];
    for (const fields of [`X-Request-Id: ${SENT}\r\n`, '']) {
      engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body, fields));
      await new Promise<void>((resolve) => {
        wire.call(
          { method: 'POST', path: '/', headers: {}, body: 'x' },
          'reused',
          (result) => {
            echoes.push(typeof result === 'string' ? undefined : result.echoedId);
            resolve();
          },
          { requestId: SENT },
        );
      });
    }
    expect(echoes).toEqual([true, false]);
  });

  test("with another request's id on a reused connection shows that the engine answers twice", async () => {
    const made = await scene({ connections_max: 1 });
    const { engine, wire, reports } = made;
    engine.respond = (connection, body) => void connection.socket.write(lengthAnswer(body, `X-Request-Id: ${SENT}\r\n`));
    expect(await make(wire, {}, 'reused', { requestId: SENT }).result).toBe('200 body');
    await rested();
    expect(await make(wire, {}, 'reused', { requestId: OTHER }).result).toBe('foreign_id');
    expect(reports).toEqual([true]);
  });
});

describe.each(['HTTP', 'TLS'])('over %s, an answer that begins before the whole request is sent', (transport) => {
  test.each([
    ['and is complete then', 0],
    ['and ends after that', 1],
  ])('%s, belongs to the request before', async (_name, held) => {
    const { engine, wire, reports } = await scene({}, transport === 'TLS' ? await trustedEngine() : undefined);
    expect(await make(wire, { body: 'before' }).result).toBe('200 before');
    await rested();
    const [{ socket }] = engine.connections as [RawConnection];
    const again = lengthAnswer('before');
    const cut = again.length - held;
    socket.removeAllListeners('data').on('data', (piece: string) => {
      if (piece.endsWith('.')) socket.write(again.slice(cut));
    });
    // More than the system takes from us while the engine does not read.
    const { result } = make(wire, { body: `${'x'.repeat(LARGE_BYTES)}.` });
    socket.pause().write(again.slice(0, cut));
    await rested();
    socket.resume();
    expect(await result).toBe('unasked');
    expect(reports).toEqual([true]);
    expect(engine.connections).toHaveLength(1);
  });
});

describe('after unexpected bytes', () => {
  const poison = async ({ engine, wire }: Scene): Promise<void> => {
    expect(await make(wire).result).toBe('200 body');
    await rested();
    const before = engine.connections.at(-1)!;
    before.socket.write('\n');
    await engine.until(() => before.closed);
  };

  test('every kept connection is closed, and each call gets a new one, until a minute has passed without such bytes', async () => {
    const made = await scene();
    const { engine, wire, reports } = made;
    await Promise.all(['a', 'b', 'c'].map((body) => make(wire, { body }).result));
    await rested();
    engine.connections[1]!.socket.write('x');
    await engine.until(() => engine.open === 0);
    const call = async (): Promise<void> => {
      expect(await make(wire).result).toBe('200 body');
      await rested();
    };
    for (let i = 0; i < 3; i++) await call();
    expect(requests(made)).toEqual([1, 1, 1, 1, 1, 1]);
    made.nowMs += 59_000;
    await poison(made);
    made.nowMs += 59_000;
    for (let i = 0; i < 2; i++) await call();
    expect(requests(made).slice(6)).toEqual([1, 1, 1]);
    expect(reports).toEqual([true, false]);
    made.nowMs += 1000;
    for (let i = 0; i < 3; i++) await call();
    expect(Math.max(...requests(made).slice(9))).toBeLessThanOrEqual(3);
    expect(requests(made).reduce((sum, count) => sum + count)).toBe(12);
    expect(engine.connections.length).toBeLessThan(12);
    await poison(made);
    expect(reports).toEqual([true, false, true]);
  });

  test('calls on reused connections are aborted, those on new ones continue', async () => {
    const made = await scene({ connections_max: 4 });
    const { engine, wire, reports } = made;
    await Promise.all(['a', 'b'].map((body) => make(wire, { body }).result));
    await rested();
    const held: (() => void)[] = [];
    engine.respond = ({ socket }, body) => void held.push(() => socket.write(lengthAnswer(body)));
    const [again, first, alone] = [make(wire, { body: 'again' }), make(wire, { body: 'first' }), make(wire, { body: 'alone' })];
    await engine.until(() => held.length === 3);
    const [one, other] = engine.connections.filter((connection) => connection.requests === 2);
    expect(other).toBeDefined();
    one!.socket.write('no HTTP');
    expect([await again.result, await first.result].toSorted()).toEqual(['reset', 'unasked']);
    for (const answer of held) answer();
    expect(await alone.result).toBe('200 alone');
    expect(reports).toEqual([true]);
  });

  test('an answer followed by more bytes is used if it can belong to no other call, and not on a reused connection', async () => {
    const { engine, wire, reports } = await scene({ connections_max: 1 });
    expect(await make(wire).result).toBe('200 body');
    await rested();
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer('late') + lengthAnswer(body));
    expect(await make(wire).result).toBe('unasked');
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body) + lengthAnswer('twice'));
    expect(await make(wire).result).toBe('200 body');
    expect(reports).toEqual([true, false]);
  });

  test('an answer followed by more bytes is used if it has the id of its call', async () => {
    const { engine, wire } = await scene({ connections_max: 1 });
    engine.respond = (connection, body) => {
      const answer = lengthAnswer(body, `X-Request-Id: ${idOf(connection.received)}\r\n`);
      connection.socket.write(connection.requests === 1 ? answer : answer + answer);
    };
    for (const requestId of ['a', 'b']) {
      expect(await make(wire, {}, 'reused', { requestId }).result).toBe('200 body');
      await rested();
    }
    expect(engine.connections).toHaveLength(1);
  });
});
