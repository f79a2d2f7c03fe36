// An OpenID provider that a test directs: it signs in whomever the test names, and lies, hangs or fails as ordered.
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Claims = Record<string, unknown>;

/** What the provider does otherwise than it should; everything is optional. */
export interface Lies {
  /** Changes the claims of the ID token before it is signed. */
  readonly claims?: (claims: Claims) => Claims;
  /** Writes the whole token. */
  readonly token?: (claims: Claims) => string;
  /** Changes the discovery document. */
  readonly metadata?: (metadata: Claims) => Claims;
  /** Answers these paths itself; a listener that never answers does nothing. */
  readonly answers?: Readonly<Record<string, (response: ServerResponse) => void>>;
}

export interface ScriptedProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Until the next call. */
  lies(lies: Lies): void;
  /** How often each path was requested. */
  readonly calls: ReadonlyMap<string, number>;
  /** Signs a person in, as if they had followed this URL: the query with which the browser comes back. */
  approve(authorizationUrl: string, person: Claims): URLSearchParams;
  /** As the provider signs. */
  sign(claims: Claims): string;
  /** A new key replaces the one in use; returns how that one signs. */
  rotateKeys(): (claims: Claims) => string;
  stop(): Promise<void>;
  /** On the same port. */
  start(): Promise<void>;
}

interface Granted {
  readonly asked: URLSearchParams;
  readonly person: Claims;
}

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: object;
}

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const provider = new Scripted();
  await provider.start();
  return provider;
}

class Scripted implements ScriptedProvider {
  readonly clientId = 'lingate console';
  /** With characters that are written otherwise in a header. */
  readonly clientSecret = 'a secret: 100% +_-&=~';
  readonly calls = new Map<string, number>();
  readonly #granted = new Map<string, Granted>();
  #server: Server | undefined;
  #port = 0;
  #lies: Lies = {};
  #key = newKey();

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  lies(lies: Lies): void {
    this.#lies = lies;
  }

  approve(authorizationUrl: string, person: Claims): URLSearchParams {
    const asked = new URL(authorizationUrl).searchParams;
    const code = randomBytes(16).toString('base64url');
    this.#granted.set(code, { asked, person });
    return new URLSearchParams({ code, state: asked.get('state')!, iss: this.issuer });
  }

  sign(claims: Claims): string {
    return signedBy(this.#key, claims);
  }

  rotateKeys(): (claims: Claims) => string {
    const before = this.#key;
    this.#key = newKey();
    return (claims) => signedBy(before, claims);
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0]!;
    this.calls.set(path, (this.calls.get(path) ?? 0) + 1);
    const lie = this.#lies.answers?.[path];
    if (lie !== undefined) return lie(response);
    if (path === '/.well-known/openid-configuration') return json(response, 200, this.#metadata());
    if (path === '/keys') return json(response, 200, { keys: [this.#key.jwk] });
    if (path === '/token') return json(response, ...this.#token(request, new URLSearchParams(await text(request))));
    return json(response, 404, {});
  }

  #metadata(): Claims {
    const metadata = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/keys`,
      end_session_endpoint: `${this.issuer}/end`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    };
    return this.#lies.metadata?.(metadata) ?? metadata;
  }

  /** By RFC 6749 and 7636: who asks, whether the code is one, and whether the verifier fits the challenge. */
  #token({ headers }: IncomingMessage, form: URLSearchParams): [status: number, answer: Claims] {
    const [id, secret] = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
      .map((part) => new URLSearchParams(`part=${part}`).get('part'));
    if (id !== this.clientId || secret !== this.clientSecret) return [401, { error: 'invalid_client' }];
    const code = form.get('code') ?? '';
    const granted = this.#granted.get(code);
    this.#granted.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (granted === undefined || granted.asked.get('code_challenge') !== challenge) return [400, { error: 'invalid_grant' }];
    if (granted.asked.get('redirect_uri') !== form.get('redirect_uri')) return [400, { error: 'invalid_grant' }];
    const seconds = Math.floor(Date.now() / 1000);
    const right = {
      iss: this.issuer,
      aud: this.clientId,
      nonce: granted.asked.get('nonce'),
      iat: seconds,
      exp: seconds + 300,
      ...granted.person,
    };
    const claims = this.#lies.claims?.(right) ?? right;
    return [200, { access_token: 'access', token_type: 'Bearer', id_token: this.#lies.token?.(claims) ?? signedBy(this.#key, claims) }];
  }
}

function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomBytes(6).toString('hex');
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' } };
}

function signedBy({ kid, privateKey }: Key, claims: Claims): string {
  const said = partsOf({ alg: 'ES256', kid }, claims);
  return `${said}.${sign('sha256', Buffer.from(said), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** A token with this header whose signature is that of HMAC-SHA-256 with this secret; without one, empty. */
export function unsignedToken(header: Claims, claims: Claims, secret?: string): string {
  const said = partsOf(header, claims);
  return `${said}.${secret === undefined ? '' : createHmac('sha256', secret).update(said).digest('base64url')}`;
}

function partsOf(header: Claims, claims: Claims): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
