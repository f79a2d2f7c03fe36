// The load process: runs the commands that arrive over the channel to its parent, one at a time.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import process from 'node:process';
import { autocannonLoad } from './autocannon-load.ts';
import { ClosedLoad } from './closed-load.ts';
import { LoadConnection } from './load-connection.ts';
import type { OnAnswer } from './load-connection.ts';
import type { LoadCommand, LoadReply, LoadResult, LoadTarget } from './load-job.ts';
import { openLoad } from './open-load.ts';
import { requestBytes } from './requests.ts';
import { TextNumbers } from './text-variety.ts';

const CONNECT_AT_ONCE = 100;

let connections: LoadConnection[] = [];
let idle: Socket[] = [];
let requests: Buffer[] = [];
let onAnswer: OnAnswer = () => undefined;

process.on('message', (command: LoadCommand) => void obey(command).then(reply, refuse));
process.once('disconnect', () => process.exit(0));

async function obey(command: LoadCommand): Promise<LoadResult | undefined> {
  switch (command.kind) {
    case 'connect':
      return open(command.target);
    case 'closed': {
      const load = new ClosedLoad(connections, requests);
      onAnswer = load.onAnswer;
      return load.run(command.durationMs);
    }
    case 'open': {
      const load = openLoad(connections, requests, command.perSecond, command.durationMs);
      onAnswer = load.onAnswer;
      return load.done;
    }
    case 'autocannon':
      return autocannonLoad(command.target, command.durationMs);
    case 'idle':
      return openIdle(command.port, command.connections);
    case 'leave':
      for (const connection of connections) connection.leave();
      connections = [];
      if (command.keepIdle) return undefined;
      for (const socket of idle) socket.destroy();
      idle = [];
      return undefined;
  }
}

async function open(target: LoadTarget): Promise<undefined> {
  requests = requestBytes(target);
  const answered: OnAnswer = (connection, fault) => onAnswer(connection, fault);
  const { port, expected, variety } = target;
  const numbers = variety === undefined ? undefined : new TextNumbers(variety);
  const opening = Array.from({ length: target.connections }, () => LoadConnection.open(port, expected, answered, numbers));
  connections = await Promise.all(opening);
}

async function openIdle(port: number, count: number): Promise<undefined> {
  while (idle.length < count) {
    const batch = Array.from({ length: Math.min(CONNECT_AT_ONCE, count - idle.length) }, () => connect(port, '127.0.0.1'));
    for (const socket of batch) socket.on('error', () => undefined);
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    idle.push(...batch);
  }
}

function reply(result: LoadResult | undefined): void {
  process.send?.({ kind: 'done', result } satisfies LoadReply);
}

function refuse(error: unknown): void {
  process.send?.({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) } satisfies LoadReply);
}
