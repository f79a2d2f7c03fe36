// Requests of adapters: JSON bodies, and headers made of constants, ids and configured values.
import type { AttemptFailure, EngineResponse, EngineWire, EngineWork } from '../../ports/engine.ts';

/** The fields common to all requests; callers may add more to the result. */
export function headersOf(work: EngineWork, contentType = 'application/json'): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType, 'x-request-id': work.requestId };
  if (work.traceparent !== undefined) headers['traceparent'] = work.traceparent;
  return headers;
}

/** `authorization` is the full value of that field. Members of the body that are `undefined` are omitted. */
export function postJson(
  wire: EngineWire,
  work: EngineWork,
  path: string,
  body: object,
  authorization?: string,
): Promise<EngineResponse | AttemptFailure> {
  const headers = headersOf(work);
  if (authorization !== undefined) headers['authorization'] = authorization;
  return wire.call({ method: 'POST', path, headers, body: JSON.stringify(body) });
}
