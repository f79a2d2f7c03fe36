// The upload of a document: what is held for it, its form, its file; answered once it is kept and queued.
import type { ByteSource, StreamFault } from '../core/byte-stream.ts';
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, refusedCharge } from '../domain/charge.ts';
import { UNCOUNTED_LEASE_MS } from '../domain/document-leases.ts';
import type { CurrentOffers } from '../domain/engine-offer.ts';
import { offerFor } from '../domain/engine-offer.ts';
import { NO_SUCH_GLOSSARY, OVERLOADED, STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { clientAddressSlot, keyOwnerSlot, planSlot, requestTagSlot } from '../domain/slots.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { judgeTranslateBody } from '../domain/translate-request.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import { readUploadForm, uploadHeadFault } from '../domain/upload-form.ts';
import type { UploadForm } from '../domain/upload-form.ts';
import type { Plan } from '../domain/plan.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { DocumentStore, DocumentTransfers, SealsDocuments } from '../ports/documents.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';
import type { Reservation } from '../ports/ledger.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';

export interface CreateDocumentOptions {
  readonly documents: DocumentStore;
  readonly sealer: SealsDocuments;
  readonly formats: Pick<DocumentFormats, 'all' | 'formatOf' | 'firstLook'>;
  readonly teams: Pick<TeamRegistry, 'findTeam'>;
  readonly glossaries: GlossaryCache;
  readonly offers: CurrentOffers;
  /** As of now. */
  readonly plans: () => ReadonlyMap<string, Plan>;
  /** Of a file. */
  readonly bytesMax: number;
  /** Of all files of all teams. */
  readonly storeBytesMax: number;
  readonly keepMs: number;
  /** Takes the request's reservation, which the document has from now on. */
  readonly takeReservation: (x: Exchange) => Reservation | undefined;
  readonly newId: () => string;
  readonly transfers: DocumentTransfers;
  /** There is work. */
  readonly onCreated: () => void;
}

const FIELDS = ['target_lang', 'source_lang', 'formality', 'glossary_id'] as const;
/** For plans that say nothing, and teams whose plan this configuration does not have. */
const DEFAULT_CHARACTERS = 50_000;
const DEFAULT_AT_ONCE = 3;
/** Stands for the texts of the file, so that the other parameters are judged as those of a translation. */
const SOME_TEXT = ['.'];

/** Sets the charge: what is held until the text is counted. */
export function holdDocument({ teams, plans }: CreateDocumentOptions): BodyStep {
  return {
    kind: 'body',
    name: 'hold-document',
    headers: ['content-type', 'content-encoding'],
    async run(x) {
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
    },
  };
}

export function createDocument(options: CreateDocumentOptions): BodyStep {
  return {
    kind: 'body',
    name: 'create-document',
    headers: ['content-type', 'content-encoding'],
    async run(x) {
      const { teamId } = x.need(keyOwnerSlot);
      if (!options.transfers.begin(teamId)) return OVERLOADED;
      try {
        const body = await collected(x.sink.incoming(), options.bytesMax);
        if ('kind' in body) return body;
        const form = readUploadForm(x.head.headers, body, FIELDS);
        return form.kind === 'problem' ? form : await create(x, form, options);
      } finally {
        options.transfers.end(teamId);
      }
    },
  };
}

async function create(x: Exchange, form: UploadForm, options: CreateDocumentOptions): Promise<Outcome> {
  const { fileName, bytes } = form;
  if (bytes.length > options.bytesMax) return tooLong(options.bytesMax);
  const judged = await judge(x, form, options);
  if ('problem' in judged) return judged;
  const { documents, sealer, newId, plans, keepMs, storeBytesMax } = options;
  const atOnce = plans().get(x.need(planSlot))?.documents_at_once ?? DEFAULT_AT_ONCE;
  const [documentId, fileId] = [newId(), newId()];
  const { teamId, keyId } = x.need(keyOwnerSlot);
  const { sourceLang, targetLang, formality } = judged.options;
  const held = { requestId: x.id, characters: x.need(chargeSlot).charged! };
  const pieces = await sealer.seal(documentId, fileId, bytes);
  const created = await documents.create(
    {
      documentId,
      teamId,
      keyId,
      address: x.get(clientAddressSlot),
      tag: x.get(requestTagSlot),
      fileName,
      sourceLang,
      targetLang,
      formality,
      glossaryId: judged.glossaryId,
      state: 'queued',
      holds: [held],
      failures: 0,
      sourceId: fileId,
    },
    keepMs,
    { fileId, pieces },
    { openMax: atOnce, bytesMax: storeBytesMax },
  );
  if (isUnavailable(created) || created.kind === 'full') return STORE_UNAVAILABLE;
  if (created.kind === 'team_unknown') return UNKNOWN_KEY;
  if (created.kind === 'too_many') return tooMany(atOnce);
  options.takeReservation(x);
  options.onCreated();
  const body = { document_id: documentId, status: 'queued', characters_held: held.characters };
  return json(JSON.stringify(body), 202, [['Location', `/v1/documents/${documentId}`]]);
}

/** What is wrong with the parameters or the file, or what the parameters mean. */
async function judge(
  x: Exchange,
  { fields, fileName, bytes }: UploadForm,
  { offers, formats, glossaries }: CreateDocumentOptions,
): Promise<TranslateRequest | Refusal> {
  const offer = offerFor(x, offers.current);
  const judged = judgeTranslateBody({ text: SOME_TEXT, ...fields }, offer.languages, offer);
  if (judged.kind === 'invalid') return judged.refusal;
  const format = formats.formatOf(fileName);
  if (format === undefined) {
    const known = formats.all.map(({ name }) => name).join(', ');
    return refuse('validation_error', `file: the ending of its name must be one of ${known}.`);
  }
  const fault = formats.firstLook(format, bytes);
  if (fault !== undefined) return refuse('validation_error', `file: ${fault}`);
  const { glossaryId, options } = judged.request;
  if (glossaryId === undefined) return judged.request;
  const reference = { glossaryId, sourceLang: options.sourceLang!, targetLang: options.targetLang };
  const found = await glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, undefined);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  return found === undefined ? NO_SUCH_GLOSSARY : judged.request;
}

function tooMany(limit: number): Refusal {
  const detail = `The plan allows ${limit} documents at work at a time; wait until one is translated.`;
  return refuse('rate_limited', detail, { limit }, [
    ['Retry-After', '5'],
    ['X-RateLimit-Limit', String(limit)],
  ]);
}

function tooLong(bytesMax: number): Refusal {
  return refuse('validation_error', `file: may be at most ${bytesMax} bytes long.`);
}

const FAULTS: Readonly<Record<Exclude<StreamFault, 'too_long'>, Refusal>> = {
  broken: refuse('validation_error', 'body: it did not arrive whole.'),
  late: refuse('validation_error', 'body: it did not arrive in time; send it faster or send less.'),
};

/** The whole body. */
function collected(source: ByteSource | undefined, bytesMax: number): Promise<Buffer | Refusal> {
  if (source === undefined) return Promise.resolve(refuse('validation_error', 'body: is missing.'));
  return new Promise((resolve) => {
    const pieces: Uint8Array[] = [];
    source.open({
      piece: (bytes) => void pieces.push(bytes),
      end: () => resolve(Buffer.concat(pieces)),
      fail: (why) => resolve(why === 'too_long' ? tooLong(bytesMax) : FAULTS[why]),
    });
  });
}
