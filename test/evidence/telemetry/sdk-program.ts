// A program with OpenTelemetry's SDK for Node, as customers and engines have it: `engine`, which answers in the native protocol and may
// fail every second call, or `caller URL COUNT`, which sends requests in spans of its own and prints their trace ids. The key is
// in CALLER_KEY: the SDK sends arguments.
import { createRequire } from 'node:module';
import type { IncomingMessage, request as requestType, createServer as createServerType, ServerResponse } from 'node:http';
import { trace } from '@opentelemetry/api';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({ instrumentations: [new HttpInstrumentation()] });
sdk.start();
// Required once the SDK has started, so that it is the instrumented one.
const http = createRequire(import.meta.url)('node:http') as {
  readonly request: typeof requestType;
  readonly createServer: typeof createServerType;
};

const [role, url = '', count = '1'] = process.argv.slice(2);
process.once('SIGTERM', () => void sdk.shutdown().then(() => process.exit(0)));
if (role === 'caller') await sendAll(Number(count));
else listen(role === 'failing-engine');

function listen(fails: boolean): void {
  const server = http.createServer((request, response) => void answer(request, response, fails));
  server.listen(0, '127.0.0.1', () => process.stdout.write(`engine on http://127.0.0.1:${(server.address() as { port: number }).port}\n`));
}

async function answer(request: IncomingMessage, response: ServerResponse, fails: boolean): Promise<void> {
  const body = JSON.parse(Buffer.concat((await request.toArray()) as Uint8Array[]).toString()) as { readonly text: readonly string[] };
  if (fails) return void response.writeHead(500).end('the engine says what it likes');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ translations: body.text.map((text) => ({ text: `translated ${text}`, detected_source_language: 'EN' })) }));
}

async function sendAll(requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) {
    await trace.getTracer('caller').startActiveSpan('checkout', async (span) => {
      const status = await post(JSON.stringify({ text: [`a caller's secret ${i}`], target_lang: 'DE' }));
      process.stdout.write(`${span.spanContext().traceId} ${status}\n`);
      span.end();
    });
  }
  await sdk.shutdown();
}

function post(body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${process.env['CALLER_KEY']}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const call = http.request(`${url}/v1/translate`, { method: 'POST', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!));
    });
    call.once('error', reject);
    call.end(body);
  });
}
