// An engine, and an upstream of forward routes, that answers correctly, but also when it should not: twice, too long after, early, to others.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { seeded } from '../../evidence/faults/seeded.ts';

export const MISDEEDS = [
  /** The same answer again, after a while. */
  'twice',
  /** The previous request's answer, before this one's and in the same write. */
  'late',
  /** An answer on a connection that waits for its next request. */
  'early',
  /** Its answer is also sent on another connection. */
  'elsewhere',
  /** Two requests get each other's answers. */
  'swapped',
] as const;
export type Misdeed = (typeof MISDEEDS)[number];

/** Milliseconds; `undefined` is in the same write. */
const DELAYS = [undefined, 0, 1, 3, 10, 40];
const REQUEST = /^([A-Z]+) (\S+) [^\r]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

interface UnrulyOptions {
  readonly echoes: boolean;
  readonly misdeeds: readonly Misdeed[];
  /** The share of requests that are answered wrongly. */
  readonly share: number;
  readonly seed: number;
}

interface UnrulyEngine {
  readonly url: string;
  /** How often it has done each. */
  readonly done: ReadonlyMap<Misdeed, number>;
  close(): Promise<void>;
}

export async function startUnrulyEngine({ echoes, misdeeds, share, seed }: UnrulyOptions): Promise<UnrulyEngine> {
  const random = seeded(seed);
  const dice = (sides: number): number => random.between(0, sides - 1);
  const sockets = new Set<Socket>();
  const done = new Map<Misdeed, number>();
  let swapped: { readonly socket: Socket; readonly answer: string } | undefined;
  const say = (socket: Socket, answer: string): void => void (socket.writable && socket.write(answer));
  const later = (ms: number, act: () => void): void => void (ms === 0 ? setImmediate(act) : setTimeout(act, ms));

  const misbehave = (socket: Socket, answer: string, before: string): void => {
    const misdeed = misdeeds[dice(misdeeds.length)]!;
    done.set(misdeed, (done.get(misdeed) ?? 0) + 1);
    const delay = DELAYS[dice(DELAYS.length)];
    switch (misdeed) {
      case 'twice':
        if (delay === undefined) return say(socket, answer + answer);
        say(socket, answer);
        return later(delay, () => say(socket, answer));
      case 'late':
        return say(socket, before + answer);
      case 'early':
        say(socket, answer);
        return later(delay ?? 5, () => say(socket, before === '' ? answer : before));
      case 'elsewhere': {
        say(socket, answer);
        const others = [...sockets].filter((other) => other !== socket);
        if (others.length > 0) say(others[dice(others.length)]!, answer);
        return;
      }
      case 'swapped':
        if (swapped === undefined) {
          const first = { socket, answer };
          swapped = first;
          // No other request came to swap with.
          return later(50, () => {
            if (swapped !== first) return;
            swapped = undefined;
            say(socket, answer);
          });
        }
        say(socket, swapped.answer);
        say(swapped.socket, answer);
        swapped = undefined;
    }
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setEncoding('utf8').setNoDelay(true);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    let [pending, before] = ['', ''];
    socket.on('data', (piece: string) => {
      pending += piece;
      for (let head = REQUEST.exec(pending); head !== null; head = REQUEST.exec(pending)) {
        const [all, method, path, fields] = head;
        const bytes = Number(/^content-length: (\d+)/im.exec(fields!)?.[1] ?? 0);
        if (pending.length < all.length + bytes) return;
        const body = pending.slice(all.length, all.length + bytes);
        pending = pending.slice(all.length + bytes);
        const id = /^x-request-id: (\S+)/im.exec(fields!)?.[1] ?? '';
        const answer = answerTo(method!, path!, body, echoes ? id : '');
        if (dice(1000) < share * 1000) misbehave(socket, answer, before);
        else say(socket, answer);
        before = answer;
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    done,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A translation in the native protocol; for anything else the path. All ASCII. */
function answerTo(method: string, path: string, body: string, id: string): string {
  const text = method === 'POST' ? translations(body) : `at ${path}`;
  const echo = id === '' ? '' : `X-Request-Id: ${id}\r\n`;
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${echo}Content-Length: ${text.length}\r\n\r\n${text}`;
}

function translations(body: string): string {
  const { text } = JSON.parse(body) as { readonly text: readonly string[] };
  return JSON.stringify({ translations: text.map((entry) => ({ text: `to ${entry}` })) });
}
