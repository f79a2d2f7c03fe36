// The upload of a document: what is held for it, its form, its file, until it is stored and queued.
import { reserveSlot } from '../../core/exchange.ts';
import type { Exchange } from '../../core/exchange.ts';
import { json } from '../../core/outcome.ts';
import type { Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import type { BodyStep } from '../../core/pipeline.ts';
import { chargeSlot, refusedCharge, clientAddressSlot, keyOwnerSlot, planSlot, requestTagSlot } from '../../domain/slots.ts';
import { offerFor } from '../../domain/engine-offer.ts';
import type { CurrentOffers } from '../../domain/engine-offer.ts';
import { judgeTranslateBody } from '../../domain/translate-request.ts';
import { UNCOUNTED_LEASE_MS } from '../../domain/document-states.ts';
import { NO_SUCH_GLOSSARY, OVERLOADED, STORE_UNAVAILABLE, UNKNOWN_KEY } from '../../domain/refusals.ts';
import { knownTraceparent } from '../../domain/request-trace.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { endingOf, readUploadForm, uploadHeadFault } from '../../domain/form-body.ts';
import type { UploadForm } from '../../domain/form-body.ts';
import type { Plan } from '../../domain/plan.ts';
import type { DocumentOrder, UploadStep } from '../../ports/document-services.ts';
import type { DocumentCreation, DocumentRecord } from '../../ports/documents.ts';
import type { GlossaryCache } from '../../ports/glossary-store.ts';
import type { TeamRegistry } from '../../ports/team-registry.ts';
import { TransferPace } from '../../core/unfinished-bodies.ts';
import type { ClientAddressReader } from '../../domain/client-address.ts';
import { removeDocument } from './document-ledger.ts';
import type { DocumentAccess } from './document-results.ts';
import { isTaken } from './file-passing.ts';
import type { FilePassingOptions } from './file-passing.ts';

/** For plans that say nothing, and teams whose plan this configuration does not have. */
const DEFAULT_CHARACTERS = 50_000;
const DEFAULT_AT_ONCE = 3;
/** Of all files, those of a team whose plan says nothing. */
const TEAM_SHARE = 4;
const FIELDS = ['target_lang', 'source_lang', 'formality', 'glossary_id'] as const;
/** Stands for the file's texts, so that the other parameters are judged as a translation's. */
const SOME_TEXT = ['.'];

const UPLOAD_HEADERS = ['content-type', 'content-encoding'] as const;

interface UploadOptions extends DocumentAccess {
  readonly teams: Pick<TeamRegistry, 'findTeam'>;
  readonly glossaries: GlossaryCache;
  /** As of now. */
  readonly plans: () => ReadonlyMap<string, Plan>;
  /** Of a file. */
  readonly bytesMax: number;
  /** Of all files of all teams. */
  readonly storeBytesMax: number;
  readonly client: ClientAddressReader;
  /** The endings of files that can be translated, in order. */
  readonly endings: readonly string[];
  /** `undefined` if no file may pass the gateway unread. */
  readonly files: FilePassingOptions | undefined;
  readonly newId: () => string;
  /** Takes the request's reservation, which the document has from now on. */
  readonly takeReservation: (x: Exchange) => void;
  /** There is work. */
  readonly onCreated: () => void;
}

/** An upload that was collected before its sender was known, for the step that reads it. */
const collectedSlot = reserveSlot<Buffer>('collected upload');

const storedSlot = reserveSlot<DocumentRecord>('stored document');

export class DocumentUploads {
  readonly #options: UploadOptions;

  constructor(options: UploadOptions) {
    this.#options = options;
  }

  /** Of `POST /v1/documents`. */
  steps(offers: CurrentOffers) {
    const hold: BodyStep = { kind: 'body', name: 'hold-document', headers: UPLOAD_HEADERS, run: (x) => this.hold(x) };
    const create = this.uploadStep({
      name: 'create-document',
      fields: FIELDS,
      run: async (x, form) => {
        const offer = offerFor(x, offers.current);
        const judged = judgeTranslateBody({ text: SOME_TEXT, ...form.fields }, offer.languages, offer);
        if (judged.kind === 'invalid') return judged.refusal;
        const { glossaryId, options: chosen } = judged.request;
        const stored = await this.create(x, { ...form, ...chosen, glossaryId });
        if ('problem' in stored) return stored;
        const { documentId, holds } = stored;
        const body = { document_id: documentId, status: 'queued', characters_held: holds[0]!.characters };
        return json(JSON.stringify(body), 202, [['Location', `/v1/documents/${documentId}`]]);
      },
    });
    return { 'hold-document': hold, 'create-document': create };
  }

  /** Sets the charge of an upload: what is held until the text is counted. */
  async hold(x: Exchange): Promise<Refusal | undefined> {
    const { teams, plans } = this.#options;
    const fault = uploadHeadFault(x.head.headers);
    if (fault !== undefined) {
      x.set(chargeSlot, refusedCharge(fault));
      return undefined;
    }
    const team = await teams.findTeam(x.need(keyOwnerSlot).teamId);
    if (isUnavailable(team)) return STORE_UNAVAILABLE;
    if (team === undefined) return UNKNOWN_KEY;
    x.set(planSlot, team.plan);
    const charged = plans().get(team.plan)?.document_characters ?? DEFAULT_CHARACTERS;
    x.set(chargeSlot, { characters: 0, charged, reserve: true, leaseMs: UNCOUNTED_LEASE_MS, glossary: undefined, refusal: undefined });
    return undefined;
  }

  /** The step of an admitted upload. What its sender never learns of is not stored. */
  uploadStep({ name, fields, run }: UploadStep): BodyStep {
    const { beginTransfer, bytesMax, slowest } = this.#options;
    return {
      kind: 'body',
      name,
      headers: [...UPLOAD_HEADERS, 'traceparent'],
      async run(x) {
        const end = beginTransfer(x.need(keyOwnerSlot));
        if (end === undefined) return OVERLOADED;
        try {
          const body = x.get(collectedSlot) ?? (await collected(x, bytesMax, slowest.ofTeams));
          if ('kind' in body) return body;
          const form = readUploadForm(x.head.headers, body, fields);
          if (form.kind === 'problem') return form;
          return form.bytes.length > bytesMax ? tooLong(bytesMax) : await run(x, form);
        } finally {
          end();
        }
      },
      settle: (x, outcome) => {
        const stored = x.get(storedSlot);
        if (stored !== undefined && outcome.kind === 'client_closed') void removeDocument(stored, this.#options, true);
      },
    };
  }

  /**
   * An upload's form, if only it tells the sender. Few at a time, because anybody can send them. The
   * step that reads the upload finds it again.
   */
  async collect(x: Exchange, bytesMax: number): Promise<UploadForm | Refusal> {
    const { beginTransfer, client, slowest } = this.#options;
    const fault = uploadHeadFault(x.head.headers);
    if (fault !== undefined) return fault;
    const end = beginTransfer({ address: client.of(x) });
    if (end === undefined) return OVERLOADED;
    try {
      const body = await collected(x, bytesMax, slowest.ofUnknown);
      if ('kind' in body) return body;
      x.set(collectedSlot, body);
      return readUploadForm(x.head.headers, body, 'any');
    } finally {
      end();
    }
  }

  /** Keeps and queues the file of an admitted upload, unless something is wrong with it. */
  async create(x: Exchange, { bytes, ...order }: DocumentOrder): Promise<DocumentRecord | Refusal> {
    const fault = (await this.#glossaryFault(x, order)) ?? this.#fileFault(x, order, bytes);
    if (fault !== undefined) return fault;
    const { documents, sealer, newId, plans, keepMs, storeBytesMax } = this.#options;
    const { documents_at_once: openMax = DEFAULT_AT_ONCE, document_bytes: teamBytesMax = Math.floor(storeBytesMax / TEAM_SHARE) } =
      plans().get(x.need(planSlot)) ?? ({} as Partial<Plan>);
    const [documentId, fileId] = [newId(), newId()];
    const { teamId, keyId } = x.need(keyOwnerSlot);
    const pieces = await sealer.seal(documentId, fileId, bytes);
    const { fileName, sourceLang, targetLang, formality, glossaryId, glossaryByBase } = order;
    const created = await documents.create(
      {
        documentId,
        teamId,
        keyId,
        address: x.get(clientAddressSlot),
        traceparent: knownTraceparent(x.head.headers['traceparent']),
        tag: x.get(requestTagSlot),
        fileName,
        format: endingOf(fileName),
        bytes: bytes.length,
        sourceLang,
        targetLang,
        formality,
        glossaryId,
        glossaryByBase,
        holds: [{ requestId: x.id, characters: x.need(chargeSlot).charged! }],
      },
      keepMs,
      { fileId, pieces },
      { openMax, teamBytesMax, bytesMax: storeBytesMax },
    );
    if (isUnavailable(created)) return STORE_UNAVAILABLE;
    if (created.kind !== 'created') return notCreated(created.kind, openMax, teamBytesMax);
    this.#options.takeReservation(x);
    x.set(storedSlot, created.document);
    this.#options.onCreated();
    return created.document;
  }

  #fileFault(x: Exchange, order: Omit<DocumentOrder, 'bytes'>, bytes: Uint8Array): Refusal | undefined {
    const { formats, endings, files } = this.#options;
    const format = formats.formatOf(order.fileName);
    if (format === undefined) {
      if (files !== undefined && isTaken(order, x.get(planSlot), files)) return undefined;
      return endings.includes(endingOf(order.fileName))
        ? refuse('validation_error', 'file: no engine takes this format for these languages, or with a glossary.')
        : refuse('validation_error', `file: the ending of its name must be one of ${endings.join(', ')}.`);
    }
    const fault = formats.firstLook(format, bytes);
    return fault === undefined ? undefined : refuse('validation_error', `file: ${fault}`);
  }

  async #glossaryFault(
    x: Exchange,
    { sourceLang, targetLang, glossaryId, glossaryByBase: byBase = false }: Omit<DocumentOrder, 'bytes'>,
  ): Promise<Refusal | undefined> {
    if (glossaryId === undefined) return undefined;
    const reference = { glossaryId, sourceLang: sourceLang!, targetLang, byBase };
    const found = await this.#options.glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, undefined);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    return found === undefined ? NO_SUCH_GLOSSARY : undefined;
  }
}

function notCreated(kind: Exclude<DocumentCreation['kind'], 'created'>, openMax: number, teamBytesMax: number): Refusal {
  switch (kind) {
    case 'full':
      return STORE_UNAVAILABLE;
    case 'team_unknown':
      return UNKNOWN_KEY;
    case 'team_full':
      return limited(teamBytesMax, `The team's documents have reached ${teamBytesMax} bytes; delete some, or wait until they expire.`, 60);
    case 'too_many':
      return limited(openMax, `The plan allows ${openMax} documents at work at a time; wait until one is translated.`, 5);
  }
}

function limited(limit: number, detail: string, seconds: number): Refusal {
  return refuse('rate_limited', detail, { limit }, [
    ['Retry-After', String(seconds)],
    ['X-RateLimit-Limit', String(limit)],
  ]);
}

function tooLong(bytesMax: number): Refusal {
  return refuse('validation_error', `file: may be at most ${bytesMax} bytes long.`);
}

const NOT_WHOLE = refuse('validation_error', 'body: it did not arrive whole.');
const TOO_SLOW = refuse('validation_error', 'body: it did not arrive in time; send it faster or send less.');

/** What a form may have besides its file. */
const FORM_BYTES = 65_536;

/**
 * The whole body, with a file of at most `bytesMax`; ends as well if the caller leaves, the request
 * is called off, or fewer than `slowest` bytes a second arrive over ten seconds.
 */
function collected(x: Exchange, bytesMax: number, slowest: number): Promise<Buffer | Refusal> {
  const source = x.sink.incoming();
  if (source === undefined) return Promise.resolve(refuse('validation_error', 'body: is missing.'));
  if (x.cancelled) return Promise.resolve(NOT_WHOLE);
  return new Promise((resolve) => {
    const pieces: Uint8Array[] = [];
    let left = bytesMax + FORM_BYTES;
    let isOver = false;
    const end = (result: Buffer | Refusal): void => {
      isOver = true;
      pace.end();
      resolve(result);
    };
    const pace = new TransferPace(slowest, () => {
      x.closeAfter = true;
      end(TOO_SLOW);
    });
    x.onCancel(() => end(NOT_WHOLE));
    source.stream.on('data', (bytes: Uint8Array) => {
      if (isOver) return;
      pace.moved(bytes.length);
      left -= bytes.length;
      if (left >= 0) pieces.push(bytes);
      else end(tooLong(bytesMax));
    });
    source.stream.once('end', () => end(Buffer.concat(pieces)));
    source.stream.resume();
  });
}
