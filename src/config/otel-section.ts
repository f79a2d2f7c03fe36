// The section `otel` of a configuration: where traces and metrics are sent, and how many requests are traced.
import type { Static } from 'typebox';
import { Type } from '../domain/typebox.ts';
import { HTTP_URL, isHttpUrl } from './engine-schema.ts';
import type { Fault } from './config-error.ts';
import { shown } from './faults.ts';
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
    /** The base URL, without a slash at the end, to which `/v1/traces` and `/v1/metrics` are added. */
    endpoint: raw.endpoint.replace(/\/+$/, ''),
    /** As written: strings, or references to secrets. */
    headers: raw.headers as Readonly<Record<string, unknown>>,
    /** The share of requests that are traced: 0 to 1. */
    sample: raw.sample,
    /** Whether a caller's sampled flag decides, if there is one. */
    followCallers: raw.follow_callers,
  };
}

/** Fields of framing, and those that describe the body. */
const OURS = /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*)$/;
const NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;

/** Names that cannot be added to an export. */
export function otelHeaderFaults(headers: Readonly<Record<string, unknown>>, path: string): Fault[] {
  return Object.keys(headers)
    .filter((name) => !NAME.test(name) || OURS.test(name.toLowerCase()))
    .map((name) => ({ path, reason: `${shown(name)} is not a header that can be added` }));
}
