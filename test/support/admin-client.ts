// Calls the admin API of a gateway under test as a program would, and checks each answer against its route's schema.
import { Check } from 'typebox/value';
import { expect } from 'vitest';
import { ADMIN_ROUTES } from './door/tables.ts';
import type { Setting } from './every-gateway.ts';
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';

export type Json = Record<string, unknown>;

export interface AdminCall {
  /** A string is sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** Replaces the right token; `null` sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdminClient {
  /** `path` is below `/admin/v1`. */
  readonly call: (method: string, path: string, options?: AdminCall) => Promise<HttpResponse>;
  /** The body of a route's successful answer. */
  readonly answered: (id: string, response: Promise<HttpResponse>) => Promise<Json>;
  /** What a route's list has on all of its pages; `path` has a query. */
  readonly listed: (id: string, path: string, member: string) => Promise<Json[]>;
  /** The audit lines of the log. */
  readonly audits: () => Json[];
}

export function adminClient(setting: Partial<Setting> & Pick<Setting, 'gateway'>, rightToken: string): AdminClient {
  const client: AdminClient = {
    call: (method, path, { body, token = rightToken, headers = {} } = {}) =>
      request({
        port: setting.gateway.opsPort,
        method,
        path: `/admin/v1${path}`,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          connection: 'close',
          host: '127.0.0.1',
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    answered: async (id, response) => {
      const { status, body } = await response;
      const route = ADMIN_ROUTES.find((one) => one.id === id)!;
      const value = (route.answer === undefined ? {} : JSON.parse(body)) as Json;
      expect([status, value]).toEqual([route.status, value]);
      expect([body, route.answer === undefined ? body === '' : Check(route.answer, value)]).toEqual([body, true]);
      return value;
    },
    async listed(id, path, member) {
      const entries: Json[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Json = await client.answered(id, client.call('GET', cursor === '' ? path : `${path}&cursor=${cursor}`));
        entries.push(...(page[member] as Json[]));
        cursor = page['next'] as string | null;
      }
      return entries;
    },
    audits: () => setting.gateway.logLines.map((line) => JSON.parse(line) as Json).filter(({ msg }) => msg === 'audit'),
  };
  return client;
}
