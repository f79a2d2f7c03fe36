// What adapters send: JSON in the body, and of the head constants, ids and what the configuration says.
import type { AttemptFailure, EngineResponse, EngineWire, EngineWork } from '../../ports/engine.ts';

/** The fields of every request; more may be added to what it gives. */
export function headersOf(work: EngineWork, contentType = 'application/json'): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType, 'x-request-id': work.requestId };
  if (work.traceparent !== undefined) headers['traceparent'] = work.traceparent;
  return headers;
}

/** `authorization` is the whole value of that field. Members of the body that are `undefined` are left out. */
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
