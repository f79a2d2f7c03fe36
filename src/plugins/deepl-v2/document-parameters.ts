// The parameters of POST /v2/document besides the file: those of texts that documents have, and what is refused.
import { refuse } from 'lingate';
import type { DocumentOrder, ReadUpload, Refusal } from 'lingate';
import Type from 'typebox';
import type { Judged } from '../facades/members.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import { objectSchema, readAll } from '../facades/parameters.ts';
import type { Described } from '../facades/parameters.ts';
import { NOTHING_READ } from './translate-body.ts';
import { TRANSLATE_PARAMETERS } from './translate-parameters.ts';
import type { ReadOptions, TranslateEntry, TranslateRules } from './translate-parameters.ts';

/** Of texts. `glossary_ids` may have one id. */
const SHARED: readonly string[] = ['target_lang', 'source_lang', 'formality', 'glossary_id', 'glossary_ids'];

const notHere = (named: string): Refusal => refuse('validation_error', `'${named}' is not supported for documents; leave it out.`);

const refused = (name: string, about: string): TranslateEntry => ({ name, does: 'refused', about, refusal: notHere });

const SERVED: readonly TranslateEntry[] = TRANSLATE_PARAMETERS.filter((entry) => 'check' in entry || SHARED.includes(entry.name)).map(
  (entry) =>
    'name' in entry && entry.name === 'glossary_ids'
      ? { ...entry, about: 'One glossary, as in `glossary_id`. With `source_lang`, and not beside `glossary_id`.' }
      : entry,
);
const REFUSED: readonly TranslateEntry[] = [
  refused('output_format', 'Only the ending of the file itself is accepted.'),
  ...['style_id', 'translation_memory_id', 'translation_memory_threshold', 'custom_instructions'].map((name) =>
    refused(name, 'Refused for documents.'),
  ),
];
const ENTRIES: readonly TranslateEntry[] = [...SERVED, ...REFUSED];

const FILE: Described = [
  {
    name: 'file',
    does: 'served',
    about: 'The file. The ending of its name says its format.',
    schema: Type.String({ format: 'binary' }),
    missing: () => refuse('validation_error', 'file: is missing.'),
  },
  { name: 'filename', does: 'served', about: "The file's name, if the part of the form has none or another one." },
];

/** Of the form. */
export const DOCUMENT_SCHEMA = objectSchema([...FILE, ...ENTRIES]);

/** For the manual's table of parameters. */
export const DEEPL_DOCUMENT_OPERATION: DescribedOperation = {
  api: 'DeepL /v2/document',
  parameters: [...FILE, ...ENTRIES],
  others: 'without effect',
};

const ONE_GLOSSARY = refuse('validation_error', "'glossary_ids' may have one id for a document.");

/** `endings` are those of files that can be translated. */
export function judgeUpload(
  { fileName, bytes, fields }: ReadUpload,
  rules: TranslateRules,
  endings: readonly string[],
): Judged<DocumentOrder> {
  const ending = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase();
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
  return { valid: { fileName, bytes, sourceLang, targetLang, formality, glossaryId, glossaryByBase: true } };
}
