// Inspects a process through its debugger: the heap after a full collection, and what keeps its event loop alive.
import type { GatewayProcess } from '../../support/gateway-process.ts';

/** For `NODE_OPTIONS`: an inspector on a free port. */
export const INSPECTABLE = '--inspect=127.0.0.1:0';

interface Inside {
  readonly heapBytes: number;
  /** Timers that keep the process alive. */
  readonly timers: number;
}

export interface Inspector {
  look(): Promise<Inside>;
  close(): void;
}

const EXPRESSION =
  "JSON.stringify({ heapBytes: process.memoryUsage().heapUsed, timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length })";

interface Reply {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: string } };
}

export async function inspect(gateway: GatewayProcess): Promise<Inspector> {
  const url = /Debugger listening on (ws:\S+)/.exec(gateway.output())?.[1];
  if (url === undefined) throw new Error('the process has no inspector: start it with INSPECTABLE');
  const socket = new WebSocket(url);
  const waiting = new Map<number, (reply: Reply) => void>();
  let sent = 0;
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const ask = (method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Reply> => {
    const id = ++sent;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return {
    async look() {
      // What one collection releases, finalizers included, is freed only by the next.
      for (let i = 0; i < 3; i++) await ask('HeapProfiler.collectGarbage');
      const reply = await ask('Runtime.evaluate', { expression: EXPRESSION });
      return JSON.parse(reply.result?.result?.value ?? '') as Inside;
    },
    close: () => socket.close(),
  };
}
