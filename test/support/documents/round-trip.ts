// What every format promises: each text once and in order, nothing else changed, and a translation in the place of each.
import { unzipSync } from 'fflate';
import type { DocumentFormats } from '../../../src/ports/document-formats.ts';
import { upperCase } from './random-texts.ts';
import type { SampleDocument } from './random-texts.ts';
import { openTextSample, sheetSample, slidesSample, wordSample } from './office-samples.ts';
import { BILINGUAL, TEXT_SAMPLES } from './text-samples.ts';

export const SAMPLES: readonly (readonly [format: string, sample: (seed: number) => SampleDocument])[] = [
  ...TEXT_SAMPLES,
  ['docx', wordSample],
  ['xlsx', sheetSample],
  ['pptx', slidesSample],
  ['odt', openTextSample],
];

interface RoundTrip {
  readonly expected: readonly string[];
  readonly found: readonly string[];
  /** Whether the file with its own texts as translations has the same bytes. */
  readonly isSame: boolean;
  /** Texts of the file whose translations are in capitals; of a bilingual one, which still has its source, their numbers in it. */
  readonly again: readonly string[];
  readonly wanted: readonly string[];
  /** Entries of an archive that were lost or changed although nothing in them is text. */
  readonly changed: readonly string[];
  readonly built: Uint8Array;
}

/** Entries in which a text may be. */
const WITH_TEXTS =
  /^(?:content|styles)\.xml$|^(?:word|xl|ppt)\/(?:(?!_rels\/|media\/|tables\/|workbook|presentation|slideMasters\/|slideLayouts\/).)+\.xml$/;

export async function roundTrip(formats: DocumentFormats, format: string, { bytes, texts: expected }: SampleDocument): Promise<RoundTrip> {
  const wantedFormat = formats.formatOf(`a.${format}`)!;
  const reason = formats.firstLook(wantedFormat, bytes);
  if (reason !== undefined) throw new Error(reason);
  const texts = await textsOf(bytes);
  const same = await builtWith(texts.map(({ text }) => text));
  const wanted = texts.map(upperCase);
  const built = await builtWith(wanted);
  const isBilingual = BILINGUAL.has(format);
  const again = isBilingual ? numbersOf(Buffer.from(built).toString()) : (await textsOf(built)).map(({ text }) => text);
  const isSame = Buffer.from(same).equals(bytes) || isBilingual;
  const changed = bytes[0] === 0x50 && bytes[1] === 0x4b ? changedEntries(bytes, built) : [];
  return {
    expected,
    found: texts.map(({ text }) => text),
    isSame,
    again,
    wanted: isBilingual ? numbersOf(wanted.join()) : wanted,
    changed,
    built,
  };

  async function textsOf(
    file: Uint8Array,
  ): Promise<Extract<Awaited<ReturnType<DocumentFormats['extract']>>, { kind: 'extracted' }>['texts']> {
    const extracted = await formats.extract(wantedFormat, file);
    if (extracted.kind === 'refused') throw new Error(extracted.reason);
    return extracted.texts;
  }

  async function builtWith(translations: readonly string[]): Promise<Uint8Array> {
    const result = await formats.build(wantedFormat, bytes, translations);
    if (result.kind === 'refused') throw new Error(result.reason);
    return result.bytes;
  }
}

/** Of the texts in capitals. */
function numbersOf(text: string): string[] {
  return text.match(/TEXT\d+/g) ?? [];
}

function changedEntries(before: Uint8Array, after: Uint8Array): string[] {
  const [old, now] = [unzipSync(before), unzipSync(after)];
  const names = Object.keys(old);
  if (JSON.stringify(names) !== JSON.stringify(Object.keys(now))) return ['the names or their order'];
  return names.filter((name) => !WITH_TEXTS.test(name) && !Buffer.from(old[name]!).equals(now[name]!));
}
