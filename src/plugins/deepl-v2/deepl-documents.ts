// /v2/document: upload, with those parameters of texts that documents have; state, and one
// download, each with the document's key.
import { createHash, timingSafeEqual } from 'node:crypto';
import { chargeSlot, endingOf, FORM_BODY_HEADERS, keyOwnerSlot, NO_SUCH_GLOSSARY, problemsTo, refuse, refusedCharge } from 'lingate';
import type { BodyStep, DocumentOrder, DocumentServices, Exchange, GatewayServices, PluginRoute, ReadUpload, Refusal } from 'lingate';
import type { RouteDoc, ShownDocument } from 'lingate';
import Type from 'typebox';
import type { DefaultVariants } from '../facades/codes.ts';
import { answer, offerTo } from '../facades/operation.ts';
import type { ApiPart } from '../facades/operation.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import { isRefusal, objectSchema, readAll } from '../facades/parameters.ts';
import type { Judged, Described } from '../facades/parameters.ts';
import { answered, JSON_OR_FORM, shown, string } from '../facades/reference.ts';
import { AUTHENTICATED, membersOf } from './deepl-request.ts';
import { NOT_FOUND as NO_GLOSSARY, ulidOf, uuidOf } from './glossary-model.ts';
import { NOTHING_READ, TRANSLATE_PARAMETERS } from './translate-parameters.ts';
import type { ReadOptions, TranslateEntry, TranslateRules } from './translate-parameters.ts';

/** Parameters of texts. `glossary_ids` may have one id. */
const SHARED: readonly string[] = ['target_lang', 'source_lang', 'formality', 'glossary_id', 'glossary_ids'];

const notHere = (named: string): Refusal => refuse('validation_error', `'${named}' is not supported for documents; leave it out.`);

const refused = (name: string, about: string): TranslateEntry => ({ name, does: 'refused', about, refusal: notHere });

const ENTRIES: readonly TranslateEntry[] = [
  ...TRANSLATE_PARAMETERS.filter((entry) => 'check' in entry || SHARED.includes(entry.name)).map((entry) =>
    'name' in entry && entry.name === 'glossary_ids'
      ? { ...entry, about: 'One glossary, as in `glossary_id`. With `source_lang`, and not beside `glossary_id`.' }
      : entry,
  ),
  refused('output_format', 'Only the ending of the file itself is accepted.'),
  ...['style_id', 'translation_memory_id', 'translation_memory_threshold', 'custom_instructions'].map((name) =>
    refused(name, 'Refused for documents.'),
  ),
];

const PARAMETERS: Described = [
  {
    name: 'file',
    about: 'The file. The ending of its name says its format.',
    schema: Type.String({ format: 'binary' }),
    missing: () => refuse('validation_error', 'file: is missing.'),
  },
  { name: 'filename', about: "The file's name, if the part of the form has none or another one." },
  ...ENTRIES,
];

/** For the manual's table of parameters. */
export const DEEPL_DOCUMENT_OPERATION: DescribedOperation = { api: 'DeepL /v2/document', parameters: PARAMETERS, others: 'without effect' };

const NOT_HERE = refuse('not_found', 'This service translates texts, with glossaries; it has no documents.');
const NO_DOCUMENT = refuse('document_not_found', 'Not found: the team has no document with this id and key; it may have been downloaded.');
const NO_KEY = refuse('validation_error', "'document_key' must be a string, given once.");

const PARAMETER = { description: "The document's id, 32 hexadecimal digits.", example: '019A83BE4D1F7B8C9D0E1F2A3B4C5D6E' };
const KEY_EXAMPLE = '6B7E2C1D'.repeat(8);
const KEY_BODY = {
  description: "The document's key, as JSON or as a form.",
  schema: Type.Object({ document_key: string('From the answer to the upload.') }),
  contentTypes: JSON_OR_FORM,
  example: { document_key: KEY_EXAMPLE },
};

const ROUTES: readonly PluginRoute[] = [
  {
    ...routeOf('/v2/document', ['deepl-hold-document', 'admit', 'deepl-create-document'], {
      summary: 'Translate a document',
      description:
        'Keeps a file and translates it in the background; it is charged when it is done. The key is shown once, and needed for everything else.',
      body: { description: 'The file, and how to translate it.', contentTypes: ['multipart/form-data'], schema: objectSchema(PARAMETERS) },
      answer: shown(
        'The document is kept.',
        { document_id: 'The id.', document_key: 'The key.' },
        { document_id: PARAMETER.example, document_key: KEY_EXAMPLE },
      ),
      problems: [...problemsTo('new_document'), 'glossary_not_found'],
    }),
    takesBody: false,
    upload: true,
  },
  routeOf('/v2/document/{id}', ['admit', 'deepl-document-state'], {
    summary: "Show a document's state",
    description: 'Ask every few seconds until it is `done` or `error`.',
    parameter: PARAMETER,
    body: KEY_BODY,
    answer: answered(
      'Its state.',
      Type.Object({
        document_id: string('The id.'),
        status: Type.Enum(['queued', 'translating', 'done', 'error'], { type: 'string', description: 'How far it is.' }),
        seconds_remaining: Type.Optional(Type.Integer({ description: 'With `translating`: when to ask again. It is no estimate.' })),
        billed_characters: Type.Optional(Type.Integer({ minimum: 0, description: 'With `done`: what was charged.' })),
        error_message: Type.Optional(string('With `error`: why. Nothing is charged.')),
      }),
      { document_id: PARAMETER.example, status: 'done', billed_characters: 1200 },
    ),
    problems: problemsTo('document'),
  }),
  routeOf('/v2/document/{id}/result', ['admit', 'deepl-document-result'], {
    summary: 'Download the translated document',
    description: 'After it the document is gone; a download that breaks off can be repeated.',
    parameter: PARAMETER,
    body: KEY_BODY,
    answer: { status: 200, description: 'The file.', contentType: 'application/octet-stream', schema: Type.String({ format: 'binary' }) },
    problems: problemsTo('result'),
  }),
];

function routeOf(path: string, steps: readonly string[], doc: Omit<RouteDoc, 'authenticated' | 'tag'>): PluginRoute {
  return {
    method: 'POST',
    path,
    takesBody: true,
    ofDocuments: true,
    steps: [...AUTHENTICATED, ...steps],
    scope: 'translate:document',
    doc: { ...doc, authenticated: true, tag: 'Documents' },
  };
}

/** Of documents whose state is asked for too often. */
const AGAIN_SECONDS = 1;

export function documents(variants: DefaultVariants): ApiPart {
  return {
    routes: ROUTES,
    steps(services) {
      const { documents: service } = services;
      return service === undefined ? withoutDocuments() : stepsWith(service, services, variants);
    },
  };
}

/** They refuse after the admission, so that a wrong key is reported there too. */
function withoutDocuments(): readonly BodyStep[] {
  const hold: BodyStep['run'] = (x) => {
    x.set(chargeSlot, refusedCharge(NOT_HERE));
    return undefined;
  };
  const others = ['deepl-create-document', 'deepl-document-state', 'deepl-document-result'];
  return [
    { kind: 'body', name: 'deepl-hold-document', run: hold },
    ...others.map((name): BodyStep => ({ kind: 'body', name, run: () => NOT_HERE })),
  ];
}

function stepsWith(service: DocumentServices, services: GatewayServices, variants: DefaultVariants): readonly BodyStep[] {
  /** The id of the document in the path, whose key the request must have. */
  const named = (x: Exchange): string | Refusal => {
    const members = membersOf(x, services);
    if (isRefusal(members)) return members;
    const key = members.get('document_key');
    if (typeof key !== 'string' || key === '') return NO_KEY;
    const id = idOf(x.pathParameter);
    return id !== undefined && isSame(key, service.keyOf(id)) ? id : NO_DOCUMENT;
  };
  return [
    { kind: 'body', name: 'deepl-hold-document', headers: ['content-type', 'content-encoding'], run: (x) => service.hold(x) },
    service.uploadStep({
      name: 'deepl-create-document',
      fields: 'any',
      async run(x, upload) {
        const judged = judgeUpload(upload, { ...offerTo(x, services, variants), passesStyle: false }, service.endings(x));
        if ('problem' in judged) return judged;
        const stored = await service.create(x, judged);
        if ('problem' in stored) return stored === NO_SUCH_GLOSSARY ? NO_GLOSSARY : stored;
        return answer({ document_id: shownId(stored.documentId), document_key: service.keyOf(stored.documentId) });
      },
    }),
    {
      kind: 'body',
      name: 'deepl-document-state',
      headers: FORM_BODY_HEADERS,
      async run(x) {
        const id = named(x);
        const found = typeof id === 'string' ? await service.find(x, id) : id;
        return 'problem' in found ? inWords(found) : answer(shownState(found));
      },
    },
    service.resultStep({
      name: 'deepl-document-result',
      find(x) {
        const documentId = named(x);
        if (typeof documentId !== 'string') return documentId;
        return { teamId: x.need(keyOwnerSlot).teamId, documentId, once: true, contentType: 'application/octet-stream' };
      },
    }),
  ];
}

const ONE_GLOSSARY = refuse('validation_error', "'glossary_ids' may have one id for a document.");

/** `endings` are those of files that can be translated. */
function judgeUpload({ fileName, bytes, fields }: ReadUpload, rules: TranslateRules, endings: readonly string[]): Judged<DocumentOrder> {
  const ending = endingOf(fileName);
  const members = new Map(Object.entries(fields));
  if (members.get('output_format')?.toLowerCase() === ending) members.delete('output_format');
  const read: ReadOptions = { ...NOTHING_READ };
  const refusal = readAll(ENTRIES, members, read, rules);
  if (refusal !== undefined) return refusal;
  if (!endings.includes(ending)) {
    return refuse('validation_error', `Invalid file extension: the name of a file must end in one of ${endings.join(', ')}.`);
  }
  const { sourceLang, targetLang, formality, glossaryIds } = read;
  const [glossaryId, ...more] = glossaryIds;
  if (more.length > 0) return ONE_GLOSSARY;
  return { fileName, bytes, sourceLang, targetLang, formality, glossaryId, glossaryByBase: true };
}

function inWords(refusal: Refusal): Refusal {
  return refusal.problem.code === 'document_not_found' ? NO_DOCUMENT : refusal;
}

function shownState({ documentId, state, billed, detail }: ShownDocument) {
  return {
    document_id: shownId(documentId),
    status: state,
    seconds_remaining: state === 'translating' ? AGAIN_SECONDS : undefined,
    billed_characters: billed,
    error_message: state === 'error' ? (detail ?? 'It could not be translated.') : undefined,
  };
}

/** As DeepL writes them: the digits of a UUID. */
function shownId(documentId: string): string {
  return uuidOf(documentId).replaceAll('-', '').toUpperCase();
}

const ID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

function idOf(text: string): string | undefined {
  const parts = ID.exec(text);
  return parts === null ? undefined : ulidOf(parts.slice(1).join('-'));
}

/** In the same time, however much of it is right. */
function isSame(given: string, right: string): boolean {
  const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given.toUpperCase()), digest(right));
}
