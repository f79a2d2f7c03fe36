// The section `otel` of a configuration: where traces are sent, and how many requests are traced.
import type { Static } from 'typebox';
import { Type } from '../domain/typebox.ts';
import { HTTP_URL, isHttpUrl } from './engine-schema.ts';
import { closed, text } from './schema-parts.ts';

const HEADERS_MAX = 32;

export const OtelSection = Type.Object(
  {
    endpoint: text(HTTP_URL, isHttpUrl, { default: 'http://127.0.0.1:4318' }),
    headers: Type.Record(Type.String(), Type.Unknown(), { maxProperties: HEADERS_MAX, default: {} }),
    sample: Type.Number({ minimum: 0, maximum: 1, default: 0.01 }),
    follow_callers: Type.Boolean({ default: false }),
  },
  closed,
);

export type OtelConfig = ReturnType<typeof toOtel>;

export function toOtel(raw: Static<typeof OtelSection>) {
  return {
    /** The base URL, without a slash at the end, to which `/v1/traces` is added. */
    endpoint: raw.endpoint.replace(/\/+$/, ''),
    /** As written: strings, or references to secrets. */
    headers: raw.headers as Readonly<Record<string, unknown>>,
    /** The share of requests that are traced: 0 to 1. */
    sample: raw.sample,
    /** Whether a caller's sampled flag decides, if there is one. */
    followCallers: raw.follow_callers,
  };
}
