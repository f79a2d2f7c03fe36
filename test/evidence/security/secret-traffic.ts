// Sends secrets through a gateway in every possible way: translations, all problems, misbehaving engines, aborts, an unavailable store.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { vi } from 'vitest';
import { problems } from '../../../src/index.ts';
import { newKey } from '../../support/door/terms.ts';
import type { ProblemCode } from '../../../src/core/problem.ts';
import type { Plan } from '../../../src/domain/plan.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { refusedRequests } from '../../support/refused-requests.ts';
import type { Ask } from '../../support/refused-requests.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { hitsIn } from './canaries.ts';
import type { Canary } from './canaries.ts';
import { ANSWERING, UNUSABLE, asking } from './leaky-engine.ts';

/** It escapes differently in each form, and nothing else contains it. */
const word = (name: string): string => `${name}-${randomBytes(9).toString('hex')}-"é<&`;
/** Valid in a path or field. */
const token = (name: string): string => `${name}${randomBytes(9).toString('hex')}`;

interface Sent extends Omit<Ask, 'route'> {
  readonly method?: string;
}

export interface Answered {
  readonly name: string;
  readonly response: HttpResponse;
}

export class SecretTraffic {
  readonly #site: LoadedGateway;
  readonly #listener: 'uws' | 'node';
  readonly secret = {
    text: word('text'),
    context: word('context'),
    term: word('term'),
    termTranslation: word('tauschwort'),
    member: token('member'),
    path: token('path'),
    query: token('query'),
    agent: token('agent'),
    cookie: token('cookie'),
    requestId: token('requestid'),
    method: token('METHOD'),
    trace: randomBytes(16).toString('hex'),
    unknownKey: newKey('live', randomBytes),
    malformedKey: `la_live_${token('malformed')}`,
  };
  /** Of every team that was created: what follows the twelve characters that may be shown. */
  readonly keys: Canary[] = [];
  readonly answers: Answered[] = [];

  constructor(site: LoadedGateway, listener: 'uws' | 'node') {
    this.#site = site;
    this.#listener = listener;
  }

  /** Everything that callers send, except keys of teams. */
  get said(): Canary[] {
    return Object.entries(this.secret).map(([name, value]) => ({ name, value }));
  }

  async team(plan: Plan = QUOTA_PLAN, creditMinor = 0): Promise<TestTeam> {
    const made = await makeTeam(this.#site.store, plan, creditMinor);
    this.keys.push({ name: 'key', value: made.key.slice(12) });
    return made;
  }

  async run(): Promise<void> {
    const { key } = await this.team();
    const glossaryId = await this.#successes(key);
    await this.#refusals(key, glossaryId);
    await Promise.all(Object.keys(UNUSABLE).map((name) => this.#expect('engine_unavailable', { key, body: this.#leaky(name) })));
    for (const name of Object.keys(ANSWERING)) await this.#succeed(name, { key, body: this.#leaky(name) });
    await this.#aborts(key);
    await this.#storeAway(key);
  }

  #translation(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return { text: [this.secret.text], context: this.secret.context, target_lang: 'DE', source_lang: 'EN', ...more };
  }

  #leaky(behaviour: string): Record<string, unknown> {
    return this.#translation({ text: [asking(behaviour) + this.secret.text] });
  }

  get #glossary(): Record<string, unknown> {
    return { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { [this.secret.term]: this.secret.termTranslation } };
  }

  #request({ method = 'POST', path = '/v1/translate', key = '', headers = {}, body = this.#translation() }: Sent) {
    const { secret } = this;
    return {
      method,
      path: `${path}?q=${secret.query}`,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'user-agent': secret.agent,
        cookie: `session=${secret.cookie}`,
        'x-request-id': secret.requestId,
        traceparent: `00-${secret.trace}-00f067aa0ba902b7-01`,
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    };
  }

  async #ask(name: string, asked: Sent): Promise<HttpResponse> {
    const response = await request({ port: this.#site.port, ...this.#request(asked) });
    this.answers.push({ name, response });
    return response;
  }

  async #expect(code: ProblemCode, asked: Sent): Promise<void> {
    const response = await this.#ask(code, asked);
    const { code: actual } = response.json() as { readonly code: string };
    assert.deepEqual([actual, response.status], [code, problems[code].status]);
  }

  async #succeed(name: string, asked: Sent, as = 200): Promise<HttpResponse> {
    const response = await this.#ask(name, asked);
    assert.equal(response.status, as);
    return response;
  }

  /** They do reach the engine: the secrets searched for later have been there. */
  async #successes(key: string): Promise<string> {
    const { secret } = this;
    const created = await this.#succeed('glossary', { key, path: '/v1/glossaries', body: this.#glossary }, 201);
    const glossaryId = (created.json() as { glossary_id: string }).glossary_id;
    await this.#succeed('translation', { key, body: this.#translation({ glossary_id: glossaryId }) });
    const [work] = this.#site.engine.requests;
    for (const value of [secret.text, secret.context, secret.term, secret.termTranslation]) {
      assert.ok(work!.body.includes(JSON.stringify(value).slice(1, -1)));
    }
    assert.ok(String(work!.headers['traceparent']).includes(secret.trace));
    return glossaryId;
  }

  async #refusals(key: string, glossaryId: string): Promise<void> {
    const { secret } = this;
    const throttled = await this.team({ ...QUOTA_PLAN, requests_per_second: 1 });
    const other = await this.team();
    const glossaries = '/v1/glossaries';
    const invalid: readonly Sent[] = [
      { body: this.#translation({ [secret.member]: secret.text }) },
      { body: this.#translation({ formality: secret.path }) },
      { body: this.#translation({ context: secret.context.repeat(100) }) },
      { body: this.#translation({ glossary_id: secret.path }) },
      { body: `"${secret.path.repeat(60_000)}"` },
      { headers: { 'content-type': `text/${secret.path}` } },
      { headers: { 'content-encoding': secret.path } },
      { path: glossaries, body: { ...this.#glossary, [secret.member]: secret.term } },
      { path: glossaries, body: { ...this.#glossary, entries: { [secret.term]: '' } } },
    ];
    const others: readonly (readonly [ProblemCode, Sent])[] = [
      ['not_found', { path: `/${secret.unknownKey}/${secret.path}`, method: 'GET' }],
      // To node:http it is not HTTP at all.
      [this.#listener === 'uws' ? 'method_not_allowed' : 'validation_error', { method: secret.method }],
      ['unauthorized', { key: secret.malformedKey }],
      ['unauthorized', { headers: { authorization: `Basic ${key}`, 'vendor-auth-key': key } }],
      ['glossary_not_found', { method: 'GET', path: `${glossaries}/${glossaryId}`, key: other.key, body: '' }],
    ];
    const of = { store: this.#site.store, team: this.team.bind(this) };
    const said = {
      word: secret.path,
      text: secret.text,
      glossary: this.#glossary,
      translation: this.#translation.bind(this),
      unknownKey: secret.unknownKey,
    };
    for (const [code, { route = 'POST /v1/translate', ...asked }] of await refusedRequests(of, said)) {
      const [method, path] = route.split(' ');
      await this.#expect(code, { method: method!, path: path!, body: '', ...asked });
    }
    for (const asked of invalid) await this.#expect('validation_error', { key, ...asked });
    for (const [code, asked] of others) await this.#expect(code, { key, ...asked });
    // Of two within a second one is refused; on a busy machine there may be more than a second between them.
    for (let statuses: readonly number[] = []; !statuses.includes(429);) {
      const both = await Promise.all([1, 2].map(() => this.#ask('one of two', { key: throttled.key })));
      statuses = both.map(({ status }) => status);
    }
  }

  /** Callers who leave in the middle of a head, of a body and of the engine's work; and a head that breaks the framing. */
  async #aborts(key: string): Promise<void> {
    const { engine, port } = this.#site;
    const whole = requestBytes(this.#request({ key, body: this.#leaky('hang') }));
    const before = engine.requests.length;
    for (const length of [100, whole.length - 5, whole.length]) {
      const connection = await RawConnection.open({ port });
      connection.send(whole.subarray(0, length));
      if (length === whole.length) await engine.until(() => engine.requests.length > before);
      connection.reset();
    }
    const broken = await RawConnection.open({ port });
    broken.send(requestBytes(this.#request({ key, headers: { 'content-length': '4, 5', 'x-secret': this.secret.path } })));
    await broken.ended;
    assert.deepEqual(hitsIn('an answer to broken framing', broken.unread, [...this.said, ...this.keys]), []);
    broken.destroy();
  }

  /** Ends when the gateway has noticed that the store is back: its health is cached for a second. */
  async #storeAway(key: string): Promise<void> {
    const { redis, storeUrl, port } = this.#site;
    if (redis === undefined) {
      const other = new DatabaseSync(storeUrl.slice('sqlite:'.length), { timeout: 5000 });
      other.exec('BEGIN EXCLUSIVE');
      await this.#expect('service_unavailable', { key });
      other.exec('ROLLBACK');
      other.close();
    } else {
      redis.process.kill('SIGSTOP');
      await this.#expect('service_unavailable', { key });
      await this.#expect('service_unavailable', { key: newKey('live', randomBytes) });
      redis.process.kill('SIGCONT');
    }
    await vi.waitUntil(() => fetch(`http://127.0.0.1:${port}/health`).then((response) => response.ok), { timeout: 60_000 });
  }
}
