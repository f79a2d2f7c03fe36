// Visits the console without a browser: keeps the cookie, fills in forms, and can leave out what a browser never would.
import { expect } from 'vitest';
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';

export type Fields = Readonly<Record<string, string>>;

export class ConsoleVisitor {
  readonly #port: number;
  /** As a browser would send it; a test may replace it. */
  cookie: string | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  static async signedIn(port: number, token: string): Promise<ConsoleVisitor> {
    const visitor = new ConsoleVisitor(port);
    expect((await visitor.signIn(token)).status).toBe(303);
    return visitor;
  }

  /** `path` includes `/console`. */
  get(path: string, headers: Fields = {}): Promise<HttpResponse> {
    return this.#send('GET', path, headers);
  }

  /** Sends exactly these fields. */
  async post(path: string, fields: Fields | string, headers: Fields = {}): Promise<HttpResponse> {
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
    return this.#send('POST', path, { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body);
  }

  /** Fills in the form of `page` that is sent to `action`, and sends its hidden fields unchanged. */
  async submit(page: string, action: string, fields: Fields = {}, headers: Fields = {}): Promise<HttpResponse> {
    const shown = await this.get(page);
    return this.post(action, { ...hiddenFields(shown.body, action), ...fields }, headers);
  }

  signIn(token: string): Promise<HttpResponse> {
    return this.submit('/console/sign-in', '/console/sign-in', { token });
  }

  async #send(method: string, path: string, headers: Fields, body?: string): Promise<HttpResponse> {
    const response = await request({
      port: this.#port,
      method,
      path,
      headers: {
        host: `127.0.0.1:${this.#port}`,
        accept: 'text/html',
        connection: 'close',
        ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const set = response.header('set-cookie');
    if (set !== undefined) this.cookie = set.includes('Max-Age=0') ? undefined : set.split(';', 1)[0];
    return response;
  }
}

/** The hidden fields of the form that is sent to this action; throws if the page has no such form. */
export function hiddenFields(body: string, action: string): Fields {
  const form = [...body.matchAll(/<form\b[^>]*>[\s\S]*?<\/form>/g)].find(([text]) => text.includes(`action="${action}"`))?.[0];
  if (form === undefined) throw new Error(`no form for ${action} in ${body.slice(0, 2000)}`);
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name, value]) => [name!, value!]));
}
