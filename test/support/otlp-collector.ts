// A collector of OTLP over HTTP, for tests: takes traces as protobuf, keeps every byte, and fails on command.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** From opentelemetry-proto 1.x: the fields that tests read, by their numbers. */
const SCHEMA = protobuf.parse(`
  syntax = "proto3";
  message Value { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message Pair { string key = 1; Value value = 2; }
  message Resource { repeated Pair attributes = 1; }
  message Status { string message = 2; uint32 code = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; uint32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated Pair attributes = 9; repeated Link links = 13;
    Status status = 15;
  }
  message ScopeSpans { repeated Span spans = 2; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Traces { repeated ResourceSpans resource_spans = 1; }
`).root;

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
  readonly resource: Attributes;
}

type CollectorBehaviour = 'ok' | 'hang' | number;

export interface Collector {
  readonly url: string;
  readonly port: number;
  readonly spans: readonly CollectedSpan[];
  /** Every body as it came, uncompressed. */
  readonly bodies: readonly Buffer[];
  /** Fields of every request. */
  readonly headers: readonly IncomingMessage['headers'][];
  always(behaviour: CollectorBehaviour): void;
  forget(): void;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let behaviour: CollectorBehaviour = 'ok';
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = Buffer.concat((await request.toArray().catch(() => [])) as Uint8Array[]);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    headers.push(request.headers);
    bodies.push(body);
    if (behaviour === 'hang') return;
    if (behaviour !== 'ok') return void response.writeHead(behaviour).end('a collector says what it likes');
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    spans.push(...spansOf(sentIn(body)));
    response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    spans,
    bodies,
    headers,
    always: (next) => void (behaviour = next),
    forget: () => [spans, bodies, headers].forEach((list) => list.splice(0)),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** As its JSON form, with bytes in hexadecimal, as in OTLP's JSON. */
interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}
interface Scoped {
  readonly resource?: { readonly attributes?: readonly Pair[] };
  readonly scopeSpans?: readonly { readonly spans?: readonly JsonSpan[] }[];
}
interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Pair[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}
interface Sent {
  readonly resourceSpans?: readonly Scoped[];
}

function sentIn(body: Buffer): Sent {
  const message = SCHEMA.lookupType('Traces');
  const plain = message.toObject(message.decode(body), { longs: String, bytes: Array });
  return JSON.parse(JSON.stringify(plain), (name, value: unknown) => (name.endsWith('Id') ? hexOf(value) : value)) as Sent;
}

function hexOf(value: unknown): unknown {
  return Array.isArray(value) ? Buffer.from(value as number[]).toString('hex') : value;
}

function spansOf({ resourceSpans = [] }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
        failed: span.status?.code === 2,
        resource: attributesOf(resource?.attributes),
      })),
    ),
  );
}

function attributesOf(pairs: readonly Pair[] = []): Attributes {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const [[kind, read] = ['', '']] = Object.entries(value);
      return [key, kind === 'intValue' ? Number(read) : read];
    }),
  );
}
