// Every alert fires exactly while its fault exists: faults on running gateways, their metrics, evaluated by Prometheus's own rules engine.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { ulid } from 'ulid';
import { describe, expect, test as base, vi } from 'vitest';
import { parse } from 'yaml';
import { DocumentSealer, loadConfig, openConfiguredStore } from '../../support/door/gateways.ts';
import { eventRules, limitsOf, ONLY_ENGINE } from '../../support/door/terms.ts';
import { openStore, recordDocuments } from '../../support/door/stores.ts';
import { freshKey } from '../../support/door/contracts.ts';
import { status } from '../../../src/testing.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { ScriptedEngine, ScriptedEngineOptions } from '../../../src/testing/scripted-engine.ts';
import { documentDraft } from '../../support/document-draft.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { CREDIT_PLAN, makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../../support/event-receiver.ts';
import { freePort } from '../../support/free-port.ts';
import { startRedis } from '../../support/redis.ts';
import { SILENT } from '../../support/silent-log.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { checkAlerts, Timeline } from '../../support/rule-series.ts';
import type { Moment } from '../../support/rule-series.ts';
import { runProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';
import type { Started } from '../../support/started.ts';
import { openBeside } from '../../support/store-place.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const RULES_FILE = fileURLToPath(new URL('../../../config/alerts.yaml', import.meta.url));
/** Longer than any alert waits (except an hour for the unused key), and than any looks back. */
const MINUTES = 17;
const KEY_MINUTES = 62;
const DAY_MS = 86_400_000;
const DOCUMENTS = { secret: 'a secret of the tests that is long enough', store_bytes: 1_048_576 };
const TEAM_METRICS = { every_seconds: 1, quota_used_percent: 50, credit_characters: 1000, key_unused_days: 30 };

const rules = await readFile(RULES_FILE, 'utf8');

/** Of one test: they run concurrently. */
interface Place extends Started {
  /** Those that expect something; they are judged when the test has said all of it. */
  readonly scenes: Set<Scene>;
}

const test = base.extend<{ place: Place }>({
  async place({ onTestFinished }, use) {
    const scenes = new Set<Scene>();
    await use(Object.assign(startedUntil(onTestFinished), { scenes }));
    for (const scene of scenes) expect(await scene.judge()).toBe('');
  },
});

/** A gateway, an engine and the timeline of its metrics. */
class Scene {
  readonly timeline = new Timeline();
  readonly engine: ScriptedEngine;
  readonly gateway: TestGateway;
  readonly #moments: Moment[] = [];
  readonly #place: Place;

  constructor(place: Place, engine: ScriptedEngine, gateway: TestGateway) {
    this.engine = engine;
    this.gateway = gateway;
    this.#place = place;
  }

  static async open(
    place: Place,
    config: Readonly<Record<string, unknown>> = {},
    store = `sqlite:${place.folder}/lingate.db`,
    engineOptions: ScriptedEngineOptions = {},
  ) {
    const engine = await place.engine(engineOptions);
    const gateway = await place.gateway({ listener: 'node', store, engineUrls: [engine.url], config });
    return new Scene(place, engine, gateway);
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.gateway.opsPort}/metrics`)).text();
  }

  /** Waits until the metrics show it. */
  async until(said: RegExp | ((metrics: string) => boolean)): Promise<void> {
    const holds = typeof said === 'function' ? said : (metrics: string) => said.test(metrics);
    await vi.waitUntil(async () => holds(await this.metrics()), { timeout: 60_000, interval: 20 });
  }

  async translate({ key }: TestTeam, characters = 4): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: ['a'.repeat(characters)], target_lang: 'DE' }),
    });
    return response.status;
  }

  /** Lets minutes pass, with an action in each; at their end exactly these alerts fire. */
  async pass(minutes: number, firing: Moment['firing'], each: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    for (let i = 0; i < minutes; i++) {
      await each();
      this.timeline.add(await this.metrics());
    }
    this.expect(firing);
  }

  quiet(each?: () => Promise<unknown>): Promise<void> {
    return this.pass(MINUTES, [], each);
  }

  /** A translation with this status, for `pass`. */
  answers(team: TestTeam, expected = 200): () => Promise<void> {
    return async () => expect(await this.translate(team)).toBe(expected);
  }

  expect(firing: Moment['firing']): void {
    this.#place.scenes.add(this);
    this.#moments.push({ minute: this.timeline.minute - 1, firing });
  }

  judge(): Promise<string> {
    return checkAlerts(RULES_FILE, rules, this.timeline, this.#moments);
  }
}

/** The label of alerts on engines, if there is one. */
const ONE = { engine: ONLY_ENGINE };

const alert = (alertname: string, more: Readonly<Record<string, string>> = {}) => [{ alertname, ...more }];

describe('the metrics', () => {
  test('are as Prometheus wants them: names, types, units and help', async ({ place }) => {
    const config = {
      team_metrics: TEAM_METRICS,
      events: { url: 'http://127.0.0.1:1/', secret: EVENTS_SECRET },
      plugins: [{ module: 'lingate/plugins/memory' }],
      documents: DOCUMENTS,
    };
    const scene = await Scene.open(place, { ...config, engine: { batch: {} } });
    expect(await scene.translate(await scene.gateway.team())).toBe(200);
    await scene.until(/^lingate_teams\{/m);
    const checked = await runProgram('promtool', ['check', 'metrics'], { input: await scene.metrics() });
    expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});

// Mostly they wait for what a gateway looks at every second or two.
describe.concurrent('the alerts', () => {
  test('are valid rules, each with a severity and a text for whoever is on call', async () => {
    expect(await runProgram('promtool', ['check', 'rules', RULES_FILE])).toMatchObject({ status: 0 });
    const { groups } = parse(rules) as { groups: { rules: Rule[] }[] };
    for (const { alert: name, expr, labels, annotations } of groups.flatMap((group) => group.rules)) {
      expect([name, labels['severity']]).toEqual([name, expect.stringMatching(/^(?:critical|warning|info)$/)]);
      expect([name, Object.keys(annotations).toSorted()]).toEqual([name, ['description', 'runbook', 'summary']]);
      const grouped = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      const named = [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map((match) => match[1]);
      expect([name, named.filter((label) => !grouped.includes(label!))]).toEqual([name, []]);
    }
  });

  const failing = [...alert('LingateEngineFailing', ONE), ...alert('LingateServerErrors')];
  test.for([
    { what: 'fails', code: 500, firing: failing },
    { what: 'has used up the operator’s own quota', code: 456, firing: [...alert('LingateEngineQuotaExhausted', ONE), ...failing] },
  ])('an engine that $what, until it recovers', async ({ code, firing }, { place }) => {
    const right = { right: () => JSON.stringify({ translations: [{ detected_source_language: 'EN', text: 'vier' }] }) };
    const engine = { protocol: 'deepl', options: { api_key: 'operator' } };
    const scene = await Scene.open(place, { engine }, undefined, right);
    const team = await scene.gateway.team();
    await scene.quiet(scene.answers(team));
    scene.engine.always(status(code));
    await scene.pass(MINUTES, firing, scene.answers(team, 503));
    scene.engine.always('ok');
    await scene.quiet(() => scene.translate(team));
  });

  test('one engine of two fails: it is named, though the other one answers every request', async ({ place }) => {
    const [small, large] = [await place.engine(), await place.engine()];
    const engines = { small: { urls: [small.url] }, large: { urls: [large.url] } };
    const gateway = await place.gateway({ listener: 'node', config: { engines } });
    const scene = new Scene(place, small, gateway);
    const team = await gateway.team();
    await scene.quiet(scene.answers(team));
    small.always(status(500));
    await scene.pass(MINUTES, alert('LingateEngineFailing', { engine: 'small' }), scene.answers(team));
  });

  test('a machine that comes back with another time, until an operator vouches for its clock', async ({ place }) => {
    const store = `sqlite:${place.folder}/clock.db`;
    const before = await openBeside(store);
    expect(
      await before.records.change('shared', [], () => ({
        result: true,
        put: [{ table: 'clock', id: 'latest', value: String(Date.now() + 61 * DAY_MS) }],
      })),
    ).toBe(true);
    await before.close();
    const scene = await Scene.open(place, {}, store);
    const team = await scene.gateway.team();
    await scene.pass(MINUTES, alert('LingateClockNotBelieved'));
    const opened = await openConfiguredStore(loadConfig({ file: undefined, env: {}, flags: { store } }));
    expect(await opened.store.clock.accept()).toMatchObject({ kind: 'accepted' });
    await opened.close();
    await scene.until(/^lingate_clock_step_seconds 0$/m);
    await scene.quiet(scene.answers(team));
  });

  test('a replica of the engine that is down, until it is back', async ({ place }) => {
    const scene = await Scene.open(place);
    const port = await freePort();
    const gateway = await place.gateway({ listener: 'node', engineUrls: [scene.engine.url, `http://127.0.0.1:${port}`] });
    const two = new Scene(place, scene.engine, gateway);
    const team = await gateway.team();
    // Many, so that the few trials are a negligible share.
    const many = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) expect(await two.translate(team)).toBe(200);
    };
    await many();
    await two.until(/^lingate_engine_replica_up\{[^}]*\} 0$/m);
    await two.pass(MINUTES, alert('LingateEngineReplicaSetAside', ONE), many);
    await place.engine({ port });
    await vi.waitUntil(async () => (await many(), !/^lingate_engine_replica_up\{[^}]*\} 0$/m.test(await two.metrics())), {
      timeout: 60_000,
      interval: 500,
    });
    await two.quiet(many);
  });

  test('a store that is unavailable and recovers', async ({ place }) => {
    const redis = await startRedis();
    const scene = await Scene.open(place, {}, redis.url);
    const team = await scene.gateway.team();
    await scene.quiet(() => scene.translate(team));
    await redis.stop();
    await scene.until(/^lingate_store_up 0$/m);
    const both = [...alert('LingateServerErrors'), ...alert('LingateStoreAway')];
    await scene.pass(MINUTES, both, scene.answers(team, 503));
    const again = await startRedis(['--port', String(redis.port)]);
    place.closes(() => again.stop());
    await scene.until(/^lingate_store_up 1$/m);
    await scene.quiet();
  });

  test('a store that rejects writes, until it accepts them, with or without requests', async ({ place }) => {
    const redis = await startRedis();
    place.closes(() => redis.stop());
    const scene = await Scene.open(place, {}, redis.url);
    const team = await scene.gateway.team();
    const client = new Redis(redis.port, '127.0.0.1', { protocol: 2 });
    place.closes(() => Promise.resolve(client.disconnect()));
    await scene.quiet(() => scene.translate(team));
    await client.config('SET', 'maxmemory', '1');
    await scene.until(/^lingate_store_writable 0$/m);
    await scene.pass(MINUTES, alert('LingateStoreTakesNoWrites'));
    const both = [...alert('LingateServerErrors'), ...alert('LingateStoreTakesNoWrites')];
    await scene.pass(MINUTES, both, scene.answers(team, 503));
    await client.config('SET', 'maxmemory', '0');
    await scene.until(/^lingate_store_writable 1$/m);
    await scene.quiet(scene.answers(team));
  });

  // Its deadlines are short, so nothing runs beside it.
  test('a charge that the store did not accept in time', { concurrent: false }, async ({ place }) => {
    const redis = await startRedis();
    place.closes(() => redis.stop());
    const config = { engine: { timeout_ms: 500 }, limits: { reservation_seconds: 2 }, store_options: { command_timeout_ms: 200 } };
    const scene = await Scene.open(place, config, redis.url);
    const team = await scene.gateway.team();
    await scene.quiet(scene.answers(team));
    scene.engine.behave((_request, response) => {
      redis.process.kill('SIGSTOP');
      response.end('{"translations":[{"text":"vier"}]}');
    });
    expect(await scene.translate(team)).toBe(200);
    await scene.until(/^lingate_settlements_total\{verdict="commit",result="abandoned"\} 1$/m);
    redis.process.kill('SIGCONT');
    await scene.until(/^lingate_store_up 1$/m);
    await scene.pass(MINUTES - 7, alert('LingateSettlementsAbandoned'), scene.answers(team));
    await scene.quiet();
  });

  test('a team whose quota is nearly used, among others, until it gets more', async ({ place }) => {
    const scene = await Scene.open(place, { team_metrics: TEAM_METRICS });
    const [full, half] = [
      await scene.gateway.team({ ...QUOTA_PLAN, characters: 100 }),
      await scene.gateway.team({ ...QUOTA_PLAN, characters: 100 }),
    ];
    await scene.translate(half, 60);
    await scene.until(new RegExp(`^lingate_team_quota_used_ratio\\{team_id="${half.teamId}"\\} 0.6$`, 'm'));
    await scene.quiet();
    await scene.translate(full, 95);
    await scene.until(new RegExp(`^lingate_team_quota_used_ratio\\{team_id="${full.teamId}"\\} 0.95$`, 'm'));
    await scene.pass(MINUTES, alert('LingateQuotaNearlyUsed', { team_id: full.teamId }));
    await scene.gateway.store.teams.updateTeam(full.teamId, { plan: { name: 'more', limits: limitsOf(QUOTA_PLAN) } });
    await scene.until((metrics) => !metrics.includes(full.teamId));
    await scene.quiet();
  });

  test('a team whose credit ends, until it gets more', async ({ place }) => {
    const scene = await Scene.open(place, { team_metrics: TEAM_METRICS });
    const team = await scene.gateway.team(CREDIT_PLAN, 3);
    await scene.until(/^lingate_teams\{condition="all"\} 1$/m);
    await scene.quiet(() => scene.translate(team));
    expect(await scene.translate(team, 900)).toBe(200);
    await scene.until(/^lingate_team_credit_characters\{team_id="\w+"\} 232$/m);
    await scene.pass(MINUTES, alert('LingateCreditLow', { team_id: team.teamId }));
    await scene.gateway.store.teams.updateTeam(team.teamId, { addMicro: 100_000_000 });
    await scene.until(/^lingate_teams\{condition="credit_low"\} 0$/m);
    await scene.quiet();
  });

  test('a key that is unused, until it is used', async ({ place }) => {
    const url = `sqlite:${place.folder}/lingate.db`;
    const longAgo = await openBeside(url, { nowMs: () => Date.now() - 40 * DAY_MS });
    const teamId = ulid();
    await longAgo.teams.createTeam({ teamId, name: 'Old', plan: 'test', limits: limitsOf(QUOTA_PLAN), balanceMicro: 0 });
    const old = freshKey(teamId);
    await longAgo.teams.createKey(old);
    await longAgo.close();
    const scene = await Scene.open(place, { team_metrics: TEAM_METRICS }, url);
    await scene.gateway.team();
    await scene.until(new RegExp(`^lingate_team_key_unused_seconds\\{team_id="${teamId}",key_id="${old.keyId}"\\} 34\\d{5}$`, 'm'));
    await scene.pass(5, []);
    await scene.pass(KEY_MINUTES, alert('LingateKeyUnused', { team_id: teamId, key_id: old.keyId }));
    await promisedLedger(scene.gateway.store.ledger).admit({
      requestId: ulid(),
      teamId,
      keyId: old.keyId,
      characters: 0,
      reserve: false,
      leaseMs: 1000,
      glossary: undefined,
    });
    await scene.until(/^lingate_teams\{condition="key_unused"\} 0$/m);
    await scene.pass(5, []);
  });

  test('a receiver of events that accepts none, until it does', async ({ place }) => {
    const receiver = await startScriptedReceiver();
    place.closes(() => receiver.close());
    const scene = await Scene.open(place, { events: { url: receiver.url, secret: EVENTS_SECRET } });
    await scene.until(/^lingate_events_pending 0$/m);
    await scene.quiet();
    receiver.answer((_event, response) => void response.writeHead(500).end());
    const beside = await openStore(`sqlite:${place.folder}/lingate.db`, {
      log: SILENT,
      clock: { nowMs: () => Date.now() },
      events: eventRules([], []),
    });
    place.closes(() => beside.close());
    await makeTeam(beside);
    await scene.until(/^lingate_events_failed_total [1-9]/m);
    await scene.pass(MINUTES, alert('LingateEventsNotDelivered'));
    receiver.answer((_event, response) => void response.writeHead(204).end());
    await scene.until(/^lingate_events_pending 0\n(?:.*\n)*lingate_events_delivered_total 2$/m);
    await scene.quiet();
  });

  /** A document that some gateway works on for hours; its removal. */
  async function documentAtWork(store: string, clock: Clock, bytes: number) {
    const beside = await openBeside(store, clock);
    const { teamId, keyId } = await makeTeam(beside);
    const documents = recordDocuments(beside.records, () => clock.nowMs());
    const draft = documentDraft({ teamId, keyId }, [], bytes);
    const due = { documentId: draft.documentId, teamId };
    const fileId = ulid();
    const pieces = await new DocumentSealer(Buffer.from(DOCUMENTS.secret)).seal(due.documentId, fileId, Buffer.alloc(bytes, 'a'));
    const bounds = { openMax: 1, teamBytesMax: 10_000_000, bytesMax: DOCUMENTS.store_bytes };
    const created = await documents.create(draft, DAY_MS, { fileId, pieces }, bounds);
    expect(created).toMatchObject({ kind: 'created' });
    expect(await documents.claim({ ...due, worker: 'elsewhere', leaseMs: DAY_MS / 2 })).toBeTypeOf('number');
    await beside.close();
    return async ({ gateway }: Scene): Promise<void> => {
      const served = recordDocuments(gateway.store.records, () => Date.now());
      expect(await served.remove(due)).toMatchObject({ documentId: due.documentId });
    };
  }

  test.for([
    { what: 'a document that is not translated for too long', alerts: 'LingateDocumentsWait', minutesAgo: 40, bytes: 3 },
    { what: 'files of documents that nearly use up their room', alerts: 'LingateDocumentsNearlyFull', minutesAgo: 0, bytes: 1_000_000 },
  ])('$what, until it is gone', async ({ alerts, minutesAgo, bytes }, { place }) => {
    const store = `sqlite:${place.folder}/lingate.db`;
    const remove = await documentAtWork(store, { nowMs: () => Date.now() - minutesAgo * 60_000 }, bytes);
    const scene = await Scene.open(place, { documents: DOCUMENTS }, store);
    await scene.until(/^lingate_documents_open 1$/m);
    await scene.until(/^lingate_document_bytes [1-9]/m);
    await scene.pass(MINUTES, alert(alerts));
    await remove(scene);
    await scene.until(/^lingate_documents_open 0$/m);
    await scene.until(/^lingate_document_bytes 0$/m);
    await scene.quiet();
  });

  test('a certificate that ends within a week, until it is renewed', async ({ place }) => {
    const { certFile, keyFile } = await makeCertificate(place.folder, 'localhost');
    const scene = await Scene.open(place, { tls: { cert_file: certFile, key_file: keyFile } });
    const text = await scene.metrics();
    expect(text).toContain(`lingate_tls_certificate_expiry_timestamp_seconds{file="${certFile}"} `);
    const days = async (left: number): Promise<void> => {
      // The rules' time begins in 1970.
      for (let i = 0; i < MINUTES; i++)
        scene.timeline.add(text.replace(/^(lingate_tls_certificate_expiry\S+) .*$/m, `$1 ${left * 86_400 + scene.timeline.minute * 60}`));
    };
    await days(8);
    scene.expect([]);
    await days(6);
    scene.expect(alert('LingateCertificateEnds'));
    await days(30);
    scene.expect([]);
  });

  test.for([
    { what: 'the only gateway', others: 0, firing: [...alert('LingateGatewayDown'), ...alert('LingateNotScraped')] },
    { what: 'one gateway of two', others: 1, firing: alert('LingateGatewayDown') },
  ])('$what cannot be scraped, until it is back', async ({ others, firing }, { place }) => {
    const scene = await Scene.open(place);
    for (const there of [true, false, true]) {
      for (let i = 0; i < MINUTES; i++) {
        const text = await scene.metrics();
        scene.timeline.add(there ? text : undefined, ...Array.from({ length: others }, () => text));
      }
      scene.expect(there ? [] : firing);
    }
  });
});
