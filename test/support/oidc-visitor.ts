// A browser at the console's sign-in by a provider, without a browser: keeps all cookies, and follows nothing by itself.
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';
import { hiddenFields } from './console-visitor.ts';

export const CONSOLE_URL = 'https://console.internal';

export class OidcVisitor {
  readonly #port: number;
  readonly cookies = new Map<string, string>();

  constructor(port: number) {
    this.#port = port;
  }

  /** `path` includes `/console`. `site` is where the page that leads there is: other sites get no `SameSite=Strict` cookie sent. */
  get(path: string, site: 'same' | 'other' = 'same'): Promise<HttpResponse> {
    return this.#send('GET', path, site);
  }

  /** Where the console sends the browser. */
  async begin(): Promise<string> {
    const answer = await this.get('/console/oidc/start');
    const location = answer.header('location');
    if (answer.status !== 303 || location === undefined) throw new Error(`${answer.status}: ${answer.body}`);
    return location;
  }

  comeBack(query: URLSearchParams | string): Promise<HttpResponse> {
    return this.get(`/console/oidc/callback?${String(query)}`, 'other');
  }

  async signOut(): Promise<HttpResponse> {
    const shown = await this.get('/console/teams');
    const body = new URLSearchParams(hiddenFields(shown.body, '/console/sign-out')).toString();
    return this.#send('POST', '/console/sign-out', 'same', body);
  }

  async #send(method: string, path: string, site: 'same' | 'other', body?: string): Promise<HttpResponse> {
    const sent = [...this.cookies].filter(([name]) => site === 'same' || name !== 'lingate_console');
    const response = await request({
      port: this.#port,
      method,
      path,
      headers: {
        host: 'console.internal',
        accept: 'text/html',
        connection: 'close',
        ...(sent.length === 0 ? {} : { cookie: sent.map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: CONSOLE_URL }),
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const [name, value] of response.rawHeaders) if (name.toLowerCase() === 'set-cookie') this.#keep(value);
    return response;
  }

  #keep(cookie: string): void {
    const [name, value] = cookie.split(';', 1)[0]!.split('=', 2) as [string, string];
    if (/Max-Age=0\b/.test(cookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
