// Documents over two gateways that are killed: a ledger of what clients saw is compared with what the store has charged, holds and keeps.
import { setTimeout as delay } from 'node:timers/promises';
import { answered, SHARED_RECORDS } from '../../../src/index.ts';
import { openRedisStore, recordDocuments } from '../../support/door/stores.ts';
import type { RecordDocuments } from '../../support/door/stores.ts';
import type { Store } from '../../../src/ports/store.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { SILENT } from '../../support/silent-log.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { closedLoop } from '../faults/pace.ts';
import { seeded } from '../faults/seeded.ts';
import type { Seeded } from '../faults/seeded.ts';
import { chargedFor, follow, PLAN } from './document-client.ts';
import type { ClientDocument, Course } from './document-client.ts';
import { startMarkingEngine } from './marking-engine.ts';
import { brokenFile, smallFile } from './small-files.ts';
import { TwoGateways } from './two-gateways.ts';

interface ReconciliationOptions {
  readonly kind: 'sqlite' | 'redis';
  readonly documents: number;
  readonly kills: number;
  /** Clients at a time. */
  readonly parallel: number;
  readonly teams: number;
}

interface Reconciliation {
  /** Must be empty. */
  readonly wrong: readonly string[];
  readonly accepted: number;
  readonly unknownUploads: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly whole: number;
  readonly charged: number;
  readonly kills: number;
  readonly engineCalls: number;
  readonly engineFailures: number;
  readonly seconds: number;
}

/** Of a hundred documents. */
const COURSES: readonly (readonly [percent: number, course: Course])[] = [
  [43, 'download'],
  [20, 'download_twice'],
  [10, 'delete_early'],
  [10, 'delete_done'],
  [10, 'expire'],
  [7, 'leave'],
];
/** The most that a reservation without a document is held: of an upload whose gateway was killed before it had written it down. */
const UNCOUNTED_MS = 600_000;

export async function reconcileDocuments(options: ReconciliationOptions): Promise<Reconciliation> {
  const { kind, documents: count, kills, parallel } = options;
  const startedAtMs = performance.now();
  const random = seeded();
  const place = await storePlace(kind);
  const engine = await startMarkingEngine(random);
  const gateways = new TwoGateways(place, engine);
  const store = await openBeside(place.url);
  try {
    await gateways.start();
    const teams: TestTeam[] = [];
    for (let n = 0; n < options.teams; n++) teams.push(await makeTeam(store, PLAN));
    const all = Array.from({ length: count }, (_, number) => drawn(number, teams, random));
    const expiry = new Expiry(store);
    const setting = { gateways, store, random, expire: (document: ClientDocument) => expiry.now(document) };
    let [ended, killed] = [0, 0];
    const wrong: string[] = [];
    const clients = closedLoop(
      (n) => n < count,
      parallel,
      async (n) => {
        for (let document = all[n]!; ; all.push(document)) {
          await follow(document, setting).catch((error: unknown) => wrong.push(`d${document.number}: ${String(error)}`));
          if (document.uploads !== 'unknown') break;
          // Another instead of one of which nothing is known.
          document = drawn(all.length, teams, random);
        }
        ended++;
      },
    );
    const killing = (async () => {
      // Spread over the run by what is done, however fast that is.
      while (killed < kills) {
        if (ended < count && ended * (kills + 1) < (killed + 1) * count) {
          await delay(10);
          continue;
        }
        await delay(random.between(0, 200));
        await gateways.kill(killed++ % 2);
      }
    })();
    await Promise.all([clients, killing]);
    wrong.push(...(await unended(store, teams)));
    // Nothing is left once all of it has expired.
    for (const { teamId } of teams) await expiry.ofTeam(teamId);
    wrong.push(...(await untilNothingIsLeft(store, teams)));
    wrong.push(...gateways.bugs());
    await gateways.stop();
    const unknownUploads = all.filter(({ uploads }) => uploads === 'unknown').length;
    const figures = await judged(store, all, wrong);
    const checked = await inProcess(['store', 'check', '--store', place.url]);
    if (checked.status !== 0) wrong.push(`store check: ${checked.stdout}${checked.stderr}`);
    wrong.push(...(await heldAfter(store, place.url, teams, unknownUploads)));
    wrong.push(...engine.shared.map((what) => `at work twice: ${what}`));
    return {
      ...figures,
      wrong: [...all.flatMap((document) => document.wrong.map((what) => `d${document.number} (${document.course}): ${what}`)), ...wrong],
      unknownUploads,
      kills: killed,
      engineCalls: engine.calls,
      engineFailures: engine.failures,
      seconds: Math.round((performance.now() - startedAtMs) / 1000),
    };
  } finally {
    gateways.killAll();
    await store.close();
    await engine.close();
    await place.remove();
  }
}

/** Every fifty has one that cannot be read, and two large ones whose downloads are broken off. */
function drawn(number: number, teams: readonly TestTeam[], random: Seeded): ClientDocument {
  const team = teams[number % teams.length]!;
  const known = { number, team, id: undefined, uploads: 'none', end: undefined, isDone: false, whole: 0 } as const;
  const document = (course: Course, file: ClientDocument['file']): ClientDocument => ({ ...known, course, file, wrong: [] });
  if (number % 50 === 41) return document('download', brokenFile(number));
  const percent = random.between(0, 99);
  let sum = 0;
  const course = COURSES.find(([share]) => percent < (sum += share))![1];
  return document(course, smallFile(number, random));
}

/** Compares each document's charge with what its client saw. */
async function judged(store: Store, all: readonly ClientDocument[], wrong: string[]) {
  const ends: Record<string, number> = {};
  let [charged, whole] = [0, 0];
  for (const document of all) {
    const { file, uploads, number, course } = document;
    const { characters, requests } = await chargedFor(store, document);
    // One that was deleted or has expired may have been done before.
    const got = document.isDone ? 'certainly' : document.end === 'error' ? 'never' : 'perhaps';
    const fault = chargeFault(got, file.characters, { characters, requests });
    if (fault !== undefined) wrong.push(`d${number} (${course}): ${fault}; received whole ${document.whole} times`);
    if (uploads === 'accepted' && document.end === undefined) wrong.push(`d${number} (${course}): has no end`);
    const end = uploads === 'accepted' ? (document.end ?? 'none') : 'not accepted';
    ends[end] = (ends[end] ?? 0) + 1;
    whole += document.whole;
    if (requests > 0) charged++;
  }
  return { ends, charged, whole, accepted: all.filter(({ uploads }) => uploads === 'accepted').length };
}

/** Ends the time of documents, as if their hours had passed. */
class Expiry {
  readonly #store: Store;
  readonly #documents: RecordDocuments;

  constructor(store: Store) {
    this.#store = store;
    this.#documents = recordDocuments(store.records, () => Date.now());
  }

  now({ id, team }: ClientDocument): Promise<void> {
    return this.#end(team.teamId, id!);
  }

  async ofTeam(teamId: string): Promise<void> {
    for (const { documentId } of answered(await this.#documents.list(teamId))) await this.#end(teamId, documentId);
  }

  async #end(teamId: string, documentId: string): Promise<void> {
    // At work, it is due when that ends; otherwise now.
    await this.#repeated(() =>
      this.#store.records.change(SHARED_RECORDS, [{ table: 'documents', id: documentId }], ([text], { nowMs }) => {
        if (text === undefined) return { result: true };
        const queued = JSON.parse(text) as { readonly dueMs: number; readonly worker?: string };
        const dueMs = queued.worker === undefined ? Math.min(queued.dueMs, nowMs) : queued.dueMs;
        const entry = (ms: number) =>
          ({ index: 'documents_by_due', id: `${String(ms).padStart(15, '0')} ${documentId} ${teamId}` }) as const;
        return {
          result: true,
          put: [{ table: 'documents', id: documentId, value: JSON.stringify({ ...queued, dueMs, untilMs: nowMs }) }],
          ...(dueMs === queued.dueMs ? {} : { index: [entry(dueMs)], unindex: [entry(queued.dueMs)] }),
        };
      }),
    );
    const nowMs = Date.now();
    await this.#repeated(() => this.#documents.change({ teamId, documentId }, (known) => ({ ...known, untilMs: nowMs })));
  }

  async #repeated(change: () => Promise<unknown>): Promise<void> {
    answered((await change()) as object);
  }
}

/** What is still queued or translating: documents whose upload had no answer, and nobody is following. */
async function unended(store: Store, teams: readonly TestTeam[]): Promise<readonly string[]> {
  const documents = recordDocuments(store.records, () => Date.now());
  const open = async (): Promise<readonly string[]> => {
    const lists = await Promise.all(teams.map(async ({ teamId }) => answered(await documents.list(teamId))));
    return lists.flat().flatMap(({ state, fileName }) => (state === 'queued' || state === 'translating' ? [`${fileName} ${state}`] : []));
  };
  return (await until(async () => (await open()).length === 0)) ? [] : (await open()).map((what) => `without an end: ${what}`);
}

async function untilNothingIsLeft(store: Store, teams: readonly TestTeam[]): Promise<readonly string[]> {
  const documents = recordDocuments(store.records, () => Date.now());
  const left = async () => {
    const all = answered(await documents.newest(undefined, 10_000));
    return { documents: all.length, bytes: answered(await documents.backlog()).bytes };
  };
  const isGone = await until(async () => {
    const { documents: count, bytes } = await left();
    return count === 0 && bytes === 0;
  });
  const records = await Promise.all(teams.map(async ({ teamId }) => answered(await documents.list(teamId)).length));
  const sum = records.reduce((all, one) => all + one, 0);
  return isGone && sum === 0 ? [] : [`left after the expiry: ${JSON.stringify(await left())}, ${sum} records`];
}

/** Nothing, but for what uploads that were killed had reserved before their document was written: ten minutes later that is gone, too. */
async function heldAfter(store: Store, url: string, teams: readonly TestTeam[], unknownUploads: number): Promise<readonly string[]> {
  const wrong: string[] = [];
  const openIn = async (one: Store): Promise<number> => {
    const standings = await Promise.all(teams.map(async ({ teamId }) => answered(await one.teams.standing(teamId))!));
    return standings.reduce((sum, { openReservations }) => sum + openReservations, 0);
  };
  const now = await openIn(store);
  if (now > unknownUploads) wrong.push(`${now} reservations are held, after ${unknownUploads} uploads without an answer`);
  const clock = { nowMs: () => Date.now() + UNCOUNTED_MS };
  const delayed = url.startsWith('redis') ? await openRedisStore({ url, log: SILENT, clock }) : await openBeside(url, clock);
  try {
    const then = await openIn(delayed);
    if (then > 0) wrong.push(`${then} reservations are held ten minutes later`);
  } finally {
    await delayed.close();
  }
  return wrong;
}

/** Half a minute for a claim of a killed process, a minute for a creation that was interrupted, and a busy machine. */
async function until(isOver: () => Promise<boolean>): Promise<boolean> {
  for (const deadlineMs = performance.now() + UNCOUNTED_MS; performance.now() < deadlineMs;) {
    if (await isOver()) return true;
    await delay(100);
  }
  return false;
}

/** What is wrong with a charge for work that its client did, did perhaps, or never got: it is charged once and whole, or not at all. */
function chargeFault(
  got: 'certainly' | 'perhaps' | 'never',
  price: number,
  { characters, requests }: { readonly characters: number; readonly requests: number },
): string | undefined {
  const isCharged = characters === price && requests === 1;
  const isFree = characters === 0 && requests === 0;
  const isRight = got === 'certainly' ? isCharged : got === 'never' ? isFree : isCharged || isFree;
  return isRight ? undefined : `charged ${characters} in ${requests}, of ${price}, which was ${got} delivered`;
}
