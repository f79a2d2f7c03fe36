// POST /translate_file, which waits for the translation, and the download that it points at.
import { endingOf, keyOwnerSlot, problemsTo, refuse } from 'lingate';
import type {
  BodyStep,
  DocumentServices,
  Exchange,
  GatewayServices,
  HeadStep,
  Outcome,
  PluginHost,
  PluginRoute,
  ReadUpload,
  Refusal,
  RouteDoc,
  ShownDocument,
  Slot,
} from 'lingate';
import Type from 'typebox';
import type { DefaultVariants } from '../facades/codes.ts';
import { answer, offerTo } from '../facades/operation.ts';
import type { ApiPart } from '../facades/operation.ts';
import { answered, string } from '../facades/reference.ts';
import { ApiKey, UPLOADING } from './libretranslate-api.ts';
import { pairIn } from './translation.ts';

const NO_FILES = refuse('not_found', 'Not found: files are not translated by this service');
const NOT_SUPPORTED = refuse('validation_error', 'Invalid request: file format not supported');
const TOO_LONG = refuse('engine_unavailable', 'The translation of the file takes too long; nothing was charged');
const NO_LINK = refuse('document_not_found', 'Invalid filename: there is no such file, or it has expired');

const UPLOAD_DOC: RouteDoc = {
  summary: 'Translate a file',
  description:
    'Waits for the translation, which is charged when it is done. With the key in the form, the whole form may be as long as any other body; with the key in a header, the file may be longer.',
  authenticated: true,
  tag: 'Files',
  body: {
    description: 'The file, and how to translate it.',
    contentTypes: ['multipart/form-data'],
    schema: Type.Object({
      file: Type.String({ format: 'binary', description: 'The file, with its name.' }),
      source: string('The code of the source language, or `auto`: the engine detects it.'),
      target: string('The code of the target language.'),
      api_key: ApiKey,
    }),
  },
  answer: answered(
    'It is translated.',
    Type.Object({ translatedFileUrl: string('Where it can be downloaded until it expires; nobody can guess it.') }),
    { translatedFileUrl: 'http://localhost:8080/download_file/ZQ9bW6c0Vd3s.txt' },
  ),
  problems: [...problemsTo('new_document'), 'engine_unavailable', 'document_failed'],
};

const DOWNLOAD_DOC: RouteDoc = {
  summary: 'Download a translated file',
  description: 'The address is all that it takes, as long as the key of the upload may be used.',
  authenticated: false,
  tag: 'Files',
  parameter: { description: 'From `translatedFileUrl`.', example: 'ZQ9bW6c0Vd3s.txt' },
  answer: { status: 200, description: 'The file.', contentType: 'application/octet-stream', schema: Type.String({ format: 'binary' }) },
  problems: ['document_not_found', 'key_revoked', 'forbidden'],
};

const HERE = ['access-log', 'libretranslate-files-here'] as const;
const ROUTES: readonly PluginRoute[] = [
  {
    method: 'POST',
    path: '/translate_file',
    takesBody: false,
    upload: true,
    ofDocuments: true,
    steps: [...HERE, ...UPLOADING, 'libretranslate-hold-file', 'admit', 'libretranslate-keep-file', 'libretranslate-await-file'],
    doc: UPLOAD_DOC,
    scope: 'translate:document',
  },
  {
    method: 'GET',
    path: '/download_file/{name}',
    takesBody: false,
    ofDocuments: true,
    steps: [...HERE, 'shed', 'libretranslate-download-file'],
    doc: DOWNLOAD_DOC,
  },
];

/** The first one belongs to the steps of keys, which are not there without documents. */
const STEPS = [
  'libretranslate-key-in-upload',
  'libretranslate-hold-file',
  'libretranslate-keep-file',
  'libretranslate-await-file',
  'libretranslate-download-file',
] as const;

/** `waitSeconds`: for a translation. */
export function files(host: PluginHost, variants: DefaultVariants, waitSeconds: number): ApiPart {
  const stored = host.reserveSlot<ShownDocument>('stored file');
  return {
    routes: ROUTES,
    steps(services) {
      const { documents } = services;
      const here: HeadStep = { kind: 'head', name: HERE[1], run: () => (documents === undefined ? NO_FILES : undefined) };
      if (documents === undefined) return [here, ...STEPS.map((name): BodyStep => ({ kind: 'body', name, run: () => NO_FILES }))];
      const use = { documents, services, variants, stored };
      return [
        here,
        { kind: 'body', name: STEPS[1], headers: ['content-type', 'content-encoding'], run: (x) => documents.hold(x) },
        documents.uploadStep({ name: STEPS[2], fields: 'any', run: (x, upload) => keep(x, upload, use) }),
        { kind: 'body', name: STEPS[3], headers: ['host', 'x-forwarded-proto'], run: (x) => awaited(x, waitSeconds * 1000, use) },
        documents.resultStep({
          name: STEPS[4],
          find({ pathParameter }) {
            const linked = documents.linked(pathParameter.split('.', 1)[0]!);
            return linked === undefined ? NO_LINK : { ...linked, ofKey: true };
          },
        }),
      ];
    },
  };
}

interface FileServices {
  readonly documents: DocumentServices;
  readonly services: GatewayServices;
  readonly variants: DefaultVariants;
  readonly stored: Slot<ShownDocument>;
}

async function keep(x: Exchange, { fileName, bytes, fields }: ReadUpload, use: FileServices): Promise<Refusal | undefined> {
  const { documents, services, variants } = use;
  const pair = pairIn(new Map(Object.entries(fields)), offerTo(x, services, variants));
  if ('problem' in pair) return pair;
  if (!documents.endings(x).includes(endingOf(fileName))) return NOT_SUPPORTED;
  const stored = await documents.create(x, { fileName, bytes, ...pair });
  if ('problem' in stored) return stored;
  x.set(use.stored, stored);
  return undefined;
}

async function awaited(x: Exchange, withinMs: number, use: FileServices): Promise<Outcome> {
  const { documentId } = x.need(use.stored);
  // The wait has a limit of its own.
  x.ownDeadline = true;
  const waited = await use.documents.ended(x, documentId, withinMs);
  if (waited !== undefined && !('problem' in waited)) return shown(waited, x, use);
  // Nobody else can ask for it.
  const ended = await use.documents.abandon(x, documentId);
  return ended === undefined ? (waited ?? TOO_LONG) : shown(ended, x, use);
}

function shown({ documentId, fileName, state, code, detail }: ShownDocument, x: Exchange, { documents, services }: FileServices): Outcome {
  if (state === 'error') return failed(code, detail);
  const link = documents.linkTo({ teamId: x.need(keyOwnerSlot).teamId, documentId });
  return answer({ translatedFileUrl: `${services.addressFor(x)}/download_file/${link}.${endingOf(fileName)}` });
}

function failed(code = 'internal_error', detail = 'The file could not be translated'): Refusal {
  return refuse('document_failed', detail, { failed_with: code });
}
