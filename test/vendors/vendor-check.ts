// Compares what we serve of vendors' APIs with the vendors' own descriptions, as far as they are packages.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowsOf } from '../../src/plugins/facades/parameter-table.ts';
import type { DescribedOperation } from '../../src/plugins/facades/parameter-table.ts';
import { interfaceMembers, messageFields, methodsOf, pathsOf } from './vendor-types.ts';

/** A place in a package that names parameters, versions, paths or methods. */
interface VendorSource {
  readonly package: string;
  readonly file: string;
  /** What it is there, for the report. */
  readonly what: string;
  /** The names in the text; `undefined` if the text does not have what they are read from. */
  readonly names: (text: string) => readonly string[] | undefined;
  /** The names that we know of, lower case and upper case alike: served, refused, or not offered on purpose. */
  readonly known: readonly string[];
}

type ReadSource = (source: Pick<VendorSource, 'package' | 'file'>) => { readonly version: string; readonly text: string };

/** A line for each name that we do not know of, and for each place that is no longer there. */
export function whatIsNew(sources: readonly VendorSource[], read: ReadSource): readonly string[] {
  return sources.flatMap((source) => {
    const { version, text } = read(source);
    const where = `${source.package} ${version}`;
    const names = source.names(text);
    if (names === undefined || names.length === 0) return [`${where}: ${source.what} is not in ${source.file} any more`];
    const known = new Set(source.known.map((one) => one.toLowerCase()));
    return names.filter((one) => !known.has(one.toLowerCase())).map((one) => `${where}: ${source.what}: ${one} is new`);
  });
}

/** From node_modules. */
export const readInstalled: ReadSource = ({ package: name, file }) => {
  const require = createRequire(import.meta.url);
  const folder = folderOf(require.resolve(name), name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, text: readFileSync(join(folder, file), 'utf8') };
};

function folderOf(entry: string, name: string): string {
  const at = entry.lastIndexOf(join('node_modules', name));
  return at === -1 ? dirname(fileURLToPath(import.meta.url)) : entry.slice(0, at) + join('node_modules', name);
}

/** Of Google's service; others are a 404. */
const GOOGLE_SERVED = ['TranslateText', 'DetectLanguage', 'GetSupportedLanguages'];
const GOOGLE_NOT_OFFERED =
  'RomanizeText TranslateDocument BatchTranslateText BatchTranslateDocument CreateGlossary UpdateGlossary ListGlossaries GetGlossary DeleteGlossary GetGlossaryEntry ListGlossaryEntries CreateGlossaryEntry UpdateGlossaryEntry DeleteGlossaryEntry CreateDataset GetDataset ListDatasets DeleteDataset CreateAdaptiveMtDataset DeleteAdaptiveMtDataset GetAdaptiveMtDataset ListAdaptiveMtDatasets AdaptiveMtTranslate GetAdaptiveMtFile DeleteAdaptiveMtFile ImportAdaptiveMtFile ListAdaptiveMtFiles ListAdaptiveMtSentences ImportData ExportData ListExamples CreateModel ListModels GetModel DeleteModel';
const AZURE_PATHS = [
  '/languages',
  '/translate',
  '/transliterate',
  '/detect',
  '/breaksentence',
  '/dictionary/lookup',
  '/dictionary/examples',
];
/** What is served, and what is a 404; further parts of a path are ids and what belongs to them. */
const DEEPL_PATHS = [
  '/v2/usage',
  '/v2/languages',
  '/v2/glossaries',
  '/v2/glossary-language-pairs',
  '/v3/glossaries',
  '/v2/document',
  '/v2/write/rephrase',
  '/v3/style_rules',
  '/v3/translation_memories',
  '/v3/translation_memories/import',
  '/v3/translation_memories/jobs',
  '/v2/translate',
];
const DEEPL = 'deepl-node';
const AZURE_1 = 'azure-translation-text-1';
const AZURE_2 = '@azure-rest/ai-translation-text';
const GOOGLE = '@google-cloud/translate';
const GOOGLE_PROTO = 'build/protos/google/cloud/translate/v3/translation_service.proto';

export function vendorSources(operations: readonly DescribedOperation[]): readonly VendorSource[] {
  /** The described names below a place, such as `inputs[].`. */
  const below = (api: string, at = ''): readonly string[] => {
    const parameters = operations.find((one) => one.api === api)?.parameters ?? [];
    return rowsOf(parameters).flatMap(({ name }) => (name.startsWith(at) ? [name.slice(at.length)] : []));
  };
  const members = (name: string) => (text: string) => interfaceMembers(text, name);
  const fields = (name: string) => (text: string) => messageFields(text, name);
  const azure = (name: string, at: string): VendorSource => ({
    package: AZURE_2,
    file: 'dist/esm/models.d.ts',
    what: name,
    names: members(name),
    known: below('Azure 2026-06-06', at),
  });
  const google = (name: string, known: readonly string[]): VendorSource => ({
    package: GOOGLE,
    file: GOOGLE_PROTO,
    what: name,
    names: fields(name),
    known,
  });
  const versions = operations.flatMap(({ api }) => (api.startsWith('Azure ') ? [api.slice('Azure '.length)] : []));
  return [
    {
      package: DEEPL,
      file: 'dist/utils.js',
      what: 'a parameter of /v2/translate',
      names: (text) => Array.from(text.matchAll(/\.append\('(\w+)'/g), ([, one]) => one!),
      known: below('DeepL /v2/translate'),
    },
    ...['dist/translator.js', 'dist/deeplClient.js'].map((file) => ({
      package: DEEPL,
      file,
      what: 'its paths',
      names: (text: string) => Array.from(text.matchAll(/['`](\/v\d\/[\w/-]*[\w-])/g), ([, one]) => one!),
      known: DEEPL_PATHS,
    })),
    {
      package: AZURE_2,
      file: 'dist/esm/textTranslationClient.js',
      what: 'the version that it asks with',
      names: (text) => Array.from(text.matchAll(/apiVersion = "([^"]+)"/g), ([, one]) => one!),
      known: versions,
    },
    ...[AZURE_1, AZURE_2].map((name) => ({
      package: name,
      file: 'dist/esm/clientDefinitions.d.ts',
      what: 'its paths',
      names: pathsOf,
      known: AZURE_PATHS,
    })),
    {
      package: AZURE_1,
      file: 'dist/esm/parameters.d.ts',
      what: 'TranslateQueryParamProperties',
      names: members('TranslateQueryParamProperties'),
      known: below('Azure 3.0'),
    },
    azure('TranslateInputItem', 'inputs[].'),
    azure('TranslationTarget', 'inputs[].targets[].'),
    azure('ReferenceTextPair', 'inputs[].targets[].referenceTextPairs[].'),
    google('TranslateTextRequest', ['parent', ...below('Google v3')]),
    google('TranslateTextGlossaryConfig', below('Google v3', 'glossaryConfig.')),
    {
      package: GOOGLE,
      file: GOOGLE_PROTO,
      what: 'its methods',
      names: methodsOf,
      known: [...GOOGLE_SERVED, ...GOOGLE_NOT_OFFERED.split(' ')],
    },
    {
      package: GOOGLE,
      file: 'build/src/v2/index.d.ts',
      what: 'TranslateRequest',
      names: members('TranslateRequest'),
      // The client's words for `source` and `target`.
      known: ['from', 'to', ...below('Google v2')],
    },
  ];
}
