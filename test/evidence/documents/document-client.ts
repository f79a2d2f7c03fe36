// A client of documents that writes down what it has seen: what it was promised, what it has received whole, and how each one ended.
import { setTimeout as delay } from 'node:timers/promises';
import { answered } from '../../../src/index.ts';
import type { Store } from '../../../src/ports/store.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import type { Seeded } from '../faults/seeded.ts';
import type { SmallFile } from './small-files.ts';
import type { Gateway, TwoGateways } from './two-gateways.ts';

export const PLAN = {
  ...QUOTA_PLAN,
  requests_per_second: 10_000,
  characters: 1_000_000_000_000,
  documents_at_once: 1000,
};

/** What a client does with its document. */
export type Course = 'download' | 'download_twice' | 'delete_early' | 'delete_done' | 'expire' | 'leave';

export interface ClientDocument {
  readonly number: number;
  readonly team: TestTeam;
  readonly file: SmallFile;
  readonly course: Course;
  id: string | undefined;
  /** Of an upload without an answer nothing is known. */
  uploads: 'none' | 'accepted' | 'unknown';
  /** As last seen; `gone` once nothing is found after a deletion or an expiry. */
  end: 'done' | 'error' | 'deleted' | 'expired' | undefined;
  /** It was seen when it was done. */
  isDone: boolean;
  /** Whole downloads. */
  whole: number;
  readonly wrong: string[];
}

const PAUSE_MS = 100;
/** Between two questions about a document that somebody else's claim keeps waiting. */
const PAUSE_MS_MAX = 1000;
/** Of one step; a claim of a killed process lasts for half a minute. */
const PATIENCE_MS = 600_000;
const ALL_DAYS = { from: 0, to: 100_000 };

interface ClientSetting {
  readonly gateways: TwoGateways;
  readonly store: Store;
  readonly random: Seeded;
  /** Makes it expire now. */
  readonly expire: (document: ClientDocument) => Promise<void>;
}

export async function follow(document: ClientDocument, setting: ClientSetting): Promise<void> {
  await upload(document, setting);
  if (document.uploads !== 'accepted') return;
  const { course } = document;
  if (course === 'delete_early' || course === 'expire') {
    // At any moment of the work on it.
    await delay(setting.random.between(0, 300));
    if (course === 'delete_early') return remove(document, setting);
    await setting.expire(document);
    await untilState(document, setting, (status) => status === 404);
    document.end = 'expired';
    return;
  }
  await untilState(document, setting, (_status, state) => state === 'done' || state === 'error');
  if (document.end === 'error') return;
  if (course === 'download' || course === 'download_twice') await download(document, setting);
  if (course === 'download_twice') await download(document, setting);
  if (course === 'delete_done') await remove(document, setting);
}

async function upload(document: ClientDocument, { gateways, random }: ClientSetting): Promise<void> {
  const { file, team, number } = document;
  for (;;) {
    const gateway = await living(gateways, random);
    let response: HttpResponse;
    try {
      response = await callerOf(gateway, team).upload({
        fileName: file.fileName,
        file: file.bytes,
        headers: { 'lingate-tag': `d${number}` },
      });
    } catch {
      document.uploads = 'unknown';
      return;
    }
    if (response.status === 202) {
      document.uploads = 'accepted';
      document.id = (response.json() as { document_id: string }).document_id;
      return;
    }
    if (response.status !== 503 && response.status !== 429) {
      document.wrong.push(`upload: ${response.status} ${response.body}`);
      return;
    }
    // What a 503 has left behind is not known: the answer of the store may have been overdue.
    await delay(PAUSE_MS);
  }
}

/** Asks again through any gateway until there is an answer that is no failure of the moment. */
async function ask(
  { gateways, random }: ClientSetting,
  { team }: ClientDocument,
  call: (caller: DocumentCaller) => Promise<HttpResponse>,
): Promise<{ readonly response: HttpResponse }> {
  for (;;) {
    const gateway = await living(gateways, random);
    try {
      const response = await call(callerOf(gateway, team));
      if (response.status !== 503 && response.status !== 429) return { response };
    } catch {
      // Killed, most likely.
    }
    await delay(PAUSE_MS);
  }
}

async function untilState(
  document: ClientDocument,
  setting: ClientSetting,
  isOver: (status: number, state: string | undefined) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    const { response } = await ask(setting, document, (caller) => caller.state(document.id!));
    const shown =
      response.status === 200 ? (response.json() as { readonly status: string; readonly billed_characters?: number }) : undefined;
    const { status } = response;
    if (isOver(status, shown?.status)) {
      if (shown?.status === 'done' || shown?.status === 'error') document.end = shown.status;
      document.isDone ||= shown?.status === 'done';
      if (shown?.status === 'done' && shown.billed_characters !== document.file.characters)
        document.wrong.push(`shows ${shown.billed_characters} of ${document.file.characters} characters`);
      return;
    }
    if (shown === undefined && status !== 404) throw new Error(`state: ${status} ${response.body}`);
    if (shown === undefined || performance.now() > deadlineMs) {
      document.wrong.push(`lost: it shows ${shown?.status ?? status}`);
      throw new Error(`d${document.number} is lost`);
    }
    await delay(pauseMs);
  }
}

async function download(document: ClientDocument, setting: ClientSetting): Promise<void> {
  const { response } = await ask(setting, document, (caller) => caller.result(document.id!));
  if (response.status !== 200) {
    document.wrong.push(`download: ${response.status} ${response.body}`);
    return;
  }
  document.whole++;
  // Markdown escapes the brackets.
  const missing = document.file.texts.filter((text) => !response.body.replaceAll('\\', '').includes(`[DE] ${text}`));
  if (document.file.isText && missing.length > 0) document.wrong.push(`download of ${document.file.fileName}: without ${missing[0]}`);
}

async function remove(document: ClientDocument, setting: ClientSetting): Promise<void> {
  const { response } = await ask(setting, document, (caller) => caller.remove(document.id!));
  // An attempt whose answer was lost may have deleted it.
  if (response.status !== 204 && response.status !== 404) document.wrong.push(`deletion: ${response.status} ${response.body}`);
  await untilState(document, setting, (status) => status === 404);
  document.end = 'deleted';
}

/** What the ledger has counted under the document's tag. */
export async function chargedFor(store: Store, { team, number }: ClientDocument): Promise<{ characters: number; requests: number }> {
  const sum = { characters: 0, requests: 0 };
  for (const { tag, characters, requests } of answered(await store.tags.days(team.teamId, ALL_DAYS))) {
    if (tag !== `d${number}`) continue;
    sum.characters += characters;
    sum.requests += requests;
  }
  return sum;
}

function callerOf({ port }: Gateway, { key }: TestTeam): DocumentCaller {
  return new DocumentCaller(port, key);
}

async function living(gateways: TwoGateways, random: Seeded): Promise<Gateway> {
  for (;;) {
    const gateway = gateways.any(random);
    if (gateway !== undefined) return gateway;
    await delay(PAUSE_MS);
  }
}
