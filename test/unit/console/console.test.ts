// The console with a virtual clock and stores that fail: expired sessions, an unreachable store, a bug of ours.
import { beforeEach, describe, expect, test } from 'vitest';
import { AdminOperations } from '../../../src/admin/admin-operations.ts';
import { Operators, SignInAttempts } from '../../../src/admin/operators.ts';
import { SignInAudit } from '../../../src/admin/sign-in-audit.ts';
import { UsageReading } from '../../../src/admin/usage-reading.ts';
import { documentsOf } from '../../../src/app/listed-documents.ts';
import { Console } from '../../../src/console/console.ts';
import type { ConsoleOptions } from '../../../src/console/console.ts';
import { ProblemWriter } from '../../../src/core/problem-writer.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { ulidSource } from '../../../src/domain/ulid.ts';
import type { OpsAnswer, OpsRequest } from '../../../src/ops/ops-request.ts';
import type { LogFields } from '../../../src/ports/log.ts';
import type { TeamRegistry } from '../../../src/ports/team-registry.ts';
import { hiddenFields } from '../../support/console-visitor.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { referenceStore } from '../../support/reference-store.ts';

const TOKEN = 'a token of at least thirty-two characters';
const HOUR_MS = 3_600_000;
const SECRET = 'words of the store, with a key in them';

let nowMs: number;
let failure: Error | undefined;
let away: StoreUnavailable | undefined;
let lines: { readonly message: string; readonly fields: LogFields | undefined }[];
let pages: Console;

beforeEach(() => {
  nowMs = 1_800_000_000_000;
  failure = undefined;
  away = undefined;
  lines = [];
  const write = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
  const store = referenceStore({ nowMs: () => nowMs });
  const teams = new Proxy(store.teams, {
    get(registry, name: keyof TeamRegistry) {
      if (failure !== undefined) return () => Promise.reject(failure);
      return away === undefined ? registry[name] : () => Promise.resolve(away);
    },
  });
  const newId = ulidSource(() => nowMs);
  const operators = new Operators([{ name: 'admin', role: 'manage', token: TOKEN }]);
  const options = {
    operations: new AdminOperations({
      teams,
      plans: () => new Map([['pro', QUOTA_PLAN]]),
      newId,
      audit: store.audit,
      glossaries: store.glossaries,
      documents: async () => documentsOf(store, () => nowMs),
      recentRequests: () => Promise.resolve([]),
    }),
    operators,
    oidc: undefined,
    signIns: new SignInAudit({ audit: store.audit, log: { info: write, warn: write, error: write }, now: () => nowMs, nowMs: () => nowMs }),
    attempts: new SignInAttempts({ operators, now: () => nowMs }),
    usage: new UsageReading(store.history),
    overview: () => Promise.reject(new Error('no test asks for it')),
    serviceName: () => 'lingate',
    problems: () => new ProblemWriter({ docsUrl: 'http://x', realm: 'lingate' }),
    log: { info: write, warn: write, error: write },
    newId,
    now: () => nowMs,
    nowMs: () => nowMs,
  } satisfies Partial<ConsoleOptions>;
  pages = new Console(options);
});

function ask(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<OpsAnswer> {
  const request: OpsRequest = {
    method,
    path,
    query: new URLSearchParams(),
    headers: { host: '127.0.0.1:9090', accept: 'text/html', ...headers },
    body: Buffer.from(body),
    remoteAddress: '127.0.0.1',
  };
  return pages.handle(request);
}

/** Fills in and sends a form of a page, with the cookie's session. */
async function submit(page: string, action: string, fields: Record<string, string>, cookie = ''): Promise<OpsAnswer> {
  const shown = await ask('GET', page, { cookie });
  const body = new URLSearchParams({ ...hiddenFields(String(shown.body), action), ...fields }).toString();
  return ask('POST', action, { cookie, 'content-type': 'application/x-www-form-urlencoded' }, body);
}

async function signedIn(): Promise<string> {
  const answer = await submit('/console/sign-in', '/console/sign-in', { token: TOKEN });
  return answer.headers!['Set-Cookie']!.split(';')[0]!;
}

describe('an expired session', () => {
  test('is redirected to the sign-in, and its forms change nothing', async () => {
    const cookie = await signedIn();
    const hidden = hiddenFields(String((await ask('GET', '/console/teams/new', { cookie })).body), '/console/teams');
    nowMs += HOUR_MS;
    expect(await ask('GET', '/console/teams', { cookie })).toMatchObject({ status: 303, headers: { Location: '/console/sign-in' } });
    const body = new URLSearchParams({ ...hidden, name: 'Late', plan: 'pro' }).toString();
    const late = await ask('POST', '/console/teams', { cookie, 'content-type': 'application/x-www-form-urlencoded' }, body);
    expect([late.status, String(late.body).includes('<code>forbidden</code>')]).toEqual([403, true]);
    expect(String((await ask('GET', '/console/teams', { cookie: await signedIn() })).body)).not.toContain('Late');
  });

  test('has forms that are refused in the next session', async () => {
    const before = await signedIn();
    const hidden = hiddenFields(String((await ask('GET', '/console/teams/new', { cookie: before })).body), '/console/teams');
    nowMs += HOUR_MS;
    const cookie = await signedIn();
    const body = new URLSearchParams({ ...hidden, name: 'Late', plan: 'pro' }).toString();
    const late = await ask('POST', '/console/teams', { cookie, 'content-type': 'application/x-www-form-urlencoded' }, body);
    expect([late.status, String(late.body).includes('<code>csrf_invalid</code>')]).toEqual([419, true]);
  });

  test('a sign-in form that was open for an hour is refused, and the next one works', async () => {
    const hidden = hiddenFields(String((await ask('GET', '/console/sign-in')).body), '/console/sign-in');
    nowMs += HOUR_MS;
    const body = new URLSearchParams({ ...hidden, token: TOKEN }).toString();
    const late = await ask('POST', '/console/sign-in', { 'content-type': 'application/x-www-form-urlencoded' }, body);
    expect([late.status, late.headers!['Set-Cookie']]).toEqual([419, undefined]);
    expect(await signedIn()).toMatch(/^lingate_console=/);
  });

  test('a sign-in form still works after somebody has signed in in another window', async () => {
    const hidden = hiddenFields(String((await ask('GET', '/console/sign-in')).body), '/console/sign-in');
    const cookie = await signedIn();
    const body = new URLSearchParams({ ...hidden, token: TOKEN }).toString();
    const again = await ask('POST', '/console/sign-in', { cookie, 'content-type': 'application/x-www-form-urlencoded' }, body);
    expect(again.status).toBe(303);
  });
});

describe('an unreachable store', () => {
  test('is reported by pages and forms alike, without the store’s own words; the form works when it is sent again', async () => {
    const cookie = await signedIn();
    const hidden = hiddenFields(String((await ask('GET', '/console/teams/new', { cookie })).body), '/console/teams');
    const body = new URLSearchParams({ ...hidden, name: 'Acme', plan: 'pro' }).toString();
    const send = () => ask('POST', '/console/teams', { cookie, 'content-type': 'application/x-www-form-urlencoded' }, body);
    away = { kind: 'unavailable', cause: 'closed', advice: SECRET };
    for (const answer of [await ask('GET', '/console/teams', { cookie }), await send()]) {
      expect([answer.status, answer.headers!['Retry-After']]).toEqual([503, '5']);
      expect(answer.body).toContain('<code>service_unavailable</code>');
      expect(answer.body).not.toContain(SECRET);
    }
    expect((await send()).body).toContain('it is unknown whether this was done');
    away = undefined;
    expect((await send()).status).toBe(303);
    expect((await ask('GET', '/console/teams', { cookie })).body).toContain('Acme');
  });
});

test('a bug of ours gives a page with the id of its log line, and neither has the error’s words', async () => {
  const cookie = await signedIn();
  failure = new Error(SECRET);
  const answer = await ask('GET', '/console/teams', { cookie });
  expect(answer.status).toBe(500);
  const { message, fields } = lines.at(-1)!;
  expect([message, fields?.['where']]).toEqual(['a bug', 'console GET /teams']);
  expect(answer.body).toContain(String(fields?.['request_id']));
  expect(JSON.stringify(lines) + String(answer.body)).not.toContain(SECRET);
});

test('a sign-in and a wrong token are logged with the address and without any token', async () => {
  await submit('/console/sign-in', '/console/sign-in', { token: 'wrong' });
  await signedIn();
  expect(lines.map(({ message, fields }) => [message, fields?.['address']])).toEqual([
    ['a wrong token at the console', '127.0.0.1'],
    ['an operator has signed in to the console', '127.0.0.1'],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/"wrong"|thirty-two/);
});

test('HEAD is answered like GET', async () => {
  const cookie = await signedIn();
  expect((await ask('HEAD', '/console/teams', { cookie })).status).toBe(200);
  expect((await ask('HEAD', '/console/teams')).status).toBe(303);
});
