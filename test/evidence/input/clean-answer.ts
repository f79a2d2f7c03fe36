// Lists what is wrong with an answer: fields and values must be from fixed sets, problem documents valid, and never a 5xx.
import type { HttpResponse } from '../../support/raw-response.ts';

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** Every field that an answer may have, and its allowed values. */
const FIELDS: Readonly<Record<string, RegExp>> = {
  date: /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  'content-length': /^\d+$/,
  'content-type': /^application\/(?:problem\+)?json$/,
  'x-request-id': new RegExp(`^${ULID}$`),
  'x-trace-id': new RegExp(`^${ULID}$`),
  'cache-control': /^no-store$/,
  connection: /^(?:close|keep-alive)$/,
  'keep-alive': /^timeout=\d+$/,
  'www-authenticate': /^Bearer realm="lingate"$/,
  allow: /^(?:[A-Z]+(?:, )?)+$/,
  'retry-after': /^\d+$/,
  'x-ratelimit-limit': /^\d+$/,
  location: new RegExp(`^/v1/glossaries/${ULID}$`),
};

/** What is wrong with an answer, in words. */
export function faultsOf(response: HttpResponse): string[] {
  const { status, rawHeaders, body } = response;
  const { 'x-request-id': id, 'x-trace-id': traceId = id } = response.headers;
  const strange = rawHeaders.filter(([name, value]) => !(FIELDS[name.toLowerCase()]?.test(value) ?? false));
  return [
    ...strange.map(([name, value]) => `the field ${name}: ${value}`),
    // DeepL's name for the same.
    ...(traceId === id ? [] : [`X-Trace-ID ${traceId} beside X-Request-Id ${id}`]),
    ...(status >= 500 ? [`status ${status}`] : []),
    // The answer to a HEAD has none.
    ...(status >= 400 && body !== '' && !isProblem(response) ? [`no problem document: ${body.slice(0, 200)}`] : []),
  ];
}

function isProblem({ status, headers, body }: HttpResponse): boolean {
  const document = tolerantJson(body);
  return (
    headers['content-type'] === 'application/problem+json' &&
    document['status'] === status &&
    document['request_id'] === headers['x-request-id'] &&
    typeof document['code'] === 'string' &&
    typeof document['detail'] === 'string'
  );
}

function tolerantJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
