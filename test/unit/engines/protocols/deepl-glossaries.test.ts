// Dictionaries at DeepL: made when first used and once, by whichever gateway; used by their team alone; gone when nobody needs them.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ulidSource } from '../../../../src/domain/ulid.ts';
import { deepLProtocol } from '../../../../src/engines/protocols/deepl-protocol.ts';
import type { Balancer } from '../../../../src/engines/balancer.ts';
import { NOTHING_CHOSEN } from '../../../../src/domain/translation-options.ts';
import type { EngineGlossary } from '../../../../src/domain/translation-options.ts';
import type { EngineResult, EngineWork } from '../../../../src/ports/engine.ts';
import { startDeepLServer } from '../../../support/deepl-server.ts';
import type { DeepLServer, DeepLServerOptions } from '../../../support/deepl-server.ts';
import { asked, Caller, Opened } from '../engine-work.ts';

const opened = new Opened();
afterEach(() => opened.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const newId = ulidSource(() => 1_764_000_000_000);
const TEAM = newId();
const TERM = 'house';

async function server(options: DeepLServerOptions = {}): Promise<DeepLServer> {
  return opened.add(await startDeepLServer(options));
}

/** A gateway's engine: it has its own knowledge of what is there. */
function gateway({ url, key }: DeepLServer, timeoutMs = 20_000): Balancer {
  return opened.engine([url], { protocol: deepLProtocol, options: { api_key: key }, timeout_ms: timeoutMs, queue_max: 1000 });
}

function dictionary(entries: Readonly<Record<string, string>>): EngineGlossary {
  return { id: newId(), entries };
}

function workOf(glossary: EngineGlossary, teamId = TEAM, targetLang = 'DE', text: readonly string[] = [TERM]): EngineWork {
  const options = { ...NOTHING_CHOSEN, sourceLang: 'EN', targetLang, glossary };
  return { requestId: newId(), teamId, text, traceparent: undefined, options };
}

function said(result: EngineResult): unknown {
  return result.kind === 'usable' ? result.translations.map(({ text }) => text) : result.failures;
}

const translated = async (engine: Balancer, what: EngineWork, caller = new Caller()): Promise<unknown> =>
  said(await asked(engine, what, caller));

describe('a dictionary', () => {
  test('is made once, however many requests and gateways need it at the same moment', async () => {
    const deepl = await server({ unreadyFor: () => 2 });
    const gateways = [gateway(deepl), gateway(deepl), gateway(deepl)];
    const glossary = dictionary({ [TERM]: 'Haus' });
    const results = await Promise.all(Array.from({ length: 60 }, (_, i) => translated(gateways[i % 3]!, workOf(glossary))));
    expect(results).toEqual(results.map(() => ['Haus']));
    expect(deepl.count('POST /v2/glossaries')).toBeLessThanOrEqual(3);
    expect([deepl.stored.size, deepl.broken]).toEqual([1, []]);
  });
});

describe('what DeepL does not take', () => {
  const PHRASE = 'x'.repeat(1025);
  test.each([
    ['a term that is too long', { [PHRASE]: 'x' }, 'DE'],
    ['a translation that is too long', { x: 'é'.repeat(513) }, 'DE'],
    ['a tab', { 'a\tb': 'x' }, 'DE'],
    ['a line break', { a: 'x\ny' }, 'DE'],
    ['a line separator', { a: 'x\u2028y' }, 'DE'],
    ['another control character', { a: 'x\u0085y' }, 'DE'],
    ['white space at an end', { ' a': 'x' }, 'DE'],
    ['its own language', { a: 'x' }, 'EN-GB'],
    ['more than 10 MiB', Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`${'x'.repeat(500)}${i}`, 'y'.repeat(500)])), 'DE'],
  ])('%s is known before', async (_name, entries, targetLang) => {
    const deepl = await server();
    const what = workOf(dictionary(entries), TEAM, targetLang);
    expect(await deepLProtocol.storedGlossaries!.takes(what.options.glossary!, what.options)).toBe(false);
    expect(await translated(gateway(deepl), what)).toEqual(['glossary_refused', 'glossary_refused']);
    expect(deepl.counts.size).toBe(0);
  });

  test('a pair without dictionaries, or one dictionary too many, is found at the server and not asked for again and again', async () => {
    const deepl = await server({ numberMax: 1 });
    const engine = gateway(deepl);
    expect(await translated(engine, workOf(dictionary({ [TERM]: 'maja' }), TEAM, 'ET'))).toEqual(['glossary_refused', 'glossary_refused']);
    expect(await translated(engine, workOf(dictionary({ [TERM]: 'Haus' })))).toEqual(['Haus']);
    const glossary = dictionary({ [TERM]: 'Heim' });
    for (let i = 0; i < 3; i++) expect(await translated(engine, workOf(glossary))).toEqual(['glossary_refused', 'glossary_refused']);
    expect(deepl.count('POST /v2/glossaries')).toBe(3);
    deepl.stored.clear();
    await engine.upkeep!.tidy(Date.now());
    expect(await translated(engine, workOf(glossary))).toEqual(['Heim']);
  });

  test.each([
    [429, 'status'],
    [503, 'status'],
    [403, 'status'],
    [456, 'engine_quota'],
  ])('a %i to the creation is a failed attempt, after which it is tried again', async (status, failure) => {
    let faults = 1;
    const deepl = await server({ fault: (route) => (route === 'POST /v2/glossaries' && faults-- > 0 ? status : undefined) });
    const result = await asked(gateway(deepl), workOf(dictionary({ [TERM]: 'Haus' })));
    expect([said(result), result.failures]).toEqual([['Haus'], [failure]]);
  });
});

describe('removal', () => {
  test('after a day without use by this gateway; others make it again; what is not ours stays', async () => {
    const clock = { nowMs: Date.UTC(2026, 10, 23) };
    const deepl = await server({ nowMs: () => clock.nowMs });
    const [one, other] = [gateway(deepl), gateway(deepl)];
    const tidy = async (engine: Balancer): Promise<void> => expect(await engine.upkeep!.tidy(clock.nowMs)).toEqual([]);
    deepl.keepForeign('lingate of a colleague');
    const glossary = dictionary({ [TERM]: 'Haus' });
    await translated(one, workOf(glossary));
    for (let hour = 0; hour < 24; hour++) {
      await tidy(one);
      await tidy(other);
      expect(deepl.stored.size).toBe(2);
      clock.nowMs += HOUR_MS;
    }
    await tidy(other);
    expect(deepl.names).toEqual(['lingate of a colleague']);
    expect(await translated(one, workOf(glossary))).toEqual(['Haus']);
    await tidy(one);
    clock.nowMs += DAY_MS - 1;
    await tidy(one);
    expect(deepl.stored.size).toBe(2);
    clock.nowMs += 1;
    await tidy(one);
    expect(deepl.names).toEqual(['lingate of a colleague']);
  });

  test('with its team, also what is being made meanwhile', async () => {
    const deepl = await server({ unreadyFor: () => 2 });
    const engine = gateway(deepl);
    const other = newId();
    const begun = translated(engine, workOf(dictionary({ [TERM]: 'Haus' })));
    await translated(engine, workOf(dictionary({ [TERM]: 'Heim' }), other));
    expect(await begun).toEqual(['Haus']);
    const delayed = translated(engine, workOf(dictionary({ [TERM]: 'Bau' })));
    await expect.poll(() => deepl.stored.size).toBe(3);
    expect(await engine.upkeep!.forget(TEAM)).toEqual([]);
    expect(await delayed).toEqual(expect.arrayContaining(['glossary_refused']));
    expect(deepl.names).toEqual([expect.stringContaining(other)]);
    expect(await translated(engine, workOf(dictionary({ [TERM]: 'Haus' })))).toEqual(['glossary_refused', 'glossary_refused']);
  });

  test('with its team, also what the server makes only after that', async () => {
    const held = Promise.withResolvers<void>();
    const deepl = await server({ before: (route) => (route === 'POST /v2/glossaries' ? held.promise : undefined) });
    const engine = gateway(deepl);
    const delayed = translated(engine, workOf(dictionary({ [TERM]: 'Haus' })));
    await expect.poll(() => deepl.count('POST /v2/glossaries')).toBe(1);
    expect(await engine.upkeep!.forget(TEAM)).toEqual([]);
    held.resolve();
    expect(await delayed).toEqual(['glossary_refused', 'glossary_refused']);
    expect(deepl.names).toEqual([]);
  });
});

interface Change {
  readonly kind: 'translate' | 'change' | 'delete' | 'pass' | 'tidy' | 'leave' | 'lose';
  readonly gateway: number;
  readonly team: number;
  readonly amount: number;
}

const change = fc.record({
  kind: fc.constantFrom<Change['kind'][]>('translate', 'translate', 'translate', 'change', 'delete', 'pass', 'tidy', 'leave', 'lose'),
  gateway: fc.nat(2),
  team: fc.nat(4),
  amount: fc.nat(30),
});

test.each([1, 2])(
  'after 300 changes at three gateways, nothing is left over and nobody has used what is another team’s (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const clock = { nowMs: Date.UTC(2026, 10, 23) };
    let draws = seed;
    /** The same in every run. */
    const dice = (sides: number): number => {
      draws = (Math.imul(draws, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (draws >> 8) % sides;
    };
    let quiet = false;
    const deepl = await server({
      nowMs: () => clock.nowMs,
      unreadyFor: () => (dice(20) === 0 ? 1 : 0),
      fault: () => (quiet || dice(40) > 0 ? undefined : ([429, 500, 503] as const)[dice(3)]),
    });
    const gateways = [gateway(deepl), gateway(deepl), gateway(deepl)];
    const teams = Array.from({ length: 5 }, () => ({ id: newId(), version: 0, glossary: dictionary({}) }));
    const renew = (team: (typeof teams)[number]): void => {
      team.version++;
      team.glossary = dictionary({ [TERM]: `${team.id} ${team.version % 4}` });
    };
    for (const team of teams) renew(team);
    const [changes] = fc.sample(fc.array(change, { minLength: 300, maxLength: 300, size: 'max' }), { numRuns: 1, seed });
    const running = new Set<Promise<void>>();
    let usable = 0;
    for (const { kind, gateway: at, team: of, amount } of changes!) {
      const [engine, team] = [gateways[at]!, teams[of]!];
      if (kind === 'translate' || kind === 'leave') {
        const expected = team.glossary.entries[TERM];
        const caller = new Caller();
        const request = asked(engine, workOf(team.glossary, team.id), caller).then((result) => {
          if (result.kind === 'usable') expect(said(result)).toEqual([expected]);
          if (result.kind === 'usable') usable++;
        });
        running.add(request);
        void request.finally(() => running.delete(request));
        if (kind === 'leave') setImmediate(() => caller.leave());
        if (amount > 20) await request;
      } else if (kind === 'change') renew(team);
      else if (kind === 'pass') clock.nowMs += amount * HOUR_MS;
      else if (kind === 'tidy') await engine.upkeep!.tidy(clock.nowMs);
      else if (kind === 'lose' && amount < 3) for (const id of [...deepl.stored.keys()].slice(0, 1)) deepl.stored.delete(id);
      else if (kind === 'delete' && amount < 6) {
        const gone = team.id;
        Object.assign(team, { id: newId() });
        renew(team);
        // As the audit tells every gateway, which tries again until it has succeeded.
        for (const each of gateways) while ((await each.upkeep!.forget(gone)).length > 0);
        await Promise.all(running);
        expect(deepl.names.filter((name) => name.includes(gone))).toEqual([]);
      }
    }
    await Promise.all(running);
    quiet = true;
    expect(deepl.broken).toEqual([]);
    expect(usable).toBeGreaterThan(60);
    for (const engine of gateways) expect(await engine.upkeep!.tidy(clock.nowMs)).toEqual([]);
    expect(new Set(deepl.names).size).toBe(deepl.names.length);
    clock.nowMs += DAY_MS;
    for (const engine of gateways) expect(await engine.upkeep!.tidy(clock.nowMs)).toEqual([]);
    expect(deepl.names).toEqual([]);
  },
);
