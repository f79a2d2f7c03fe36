// What every format promises: each text once and in order, nothing else changed, and a translation in the place of each.
import { unzipSync } from 'fflate';
import { expect } from 'vitest';
import { firstLook, formatOf } from '../door/gateways.ts';
import { builtWith, textsOf } from './formats-here.ts';
import { escapeXml, RandomTexts, upperCase } from './random-texts.ts';
import type { SampleDocument } from './random-texts.ts';
import { openTextSample, sheetSample, slidesSample, wordSample } from './office-samples.ts';

type Make = (random: RandomTexts, texts: string[]) => string;

function sample(make: Make): (seed: number) => SampleDocument {
  return (seed) => {
    const random = new RandomTexts(seed);
    const texts: string[] = [];
    const source = make(random, texts);
    // Every third file is as Windows writes it, every fourth has a byte order mark.
    const ended = seed % 3 === 0 ? source.replaceAll('\n', '\r\n') : source;
    return { bytes: Buffer.from((seed % 4 === 0 ? '\ufeff' : '') + ended), texts };
  };
}

const many = <T>(random: RandomTexts, make: (index: number) => T): T[] =>
  Array.from({ length: 1 + random.number(8) }, (_, index) => make(index));

function adder(texts: string[]): (text: string) => string {
  return (text) => {
    texts.push(text);
    return text;
  };
}

const plain = sample((random, texts) => {
  const add = adder(texts);
  return many(random, () => `${random.maybe() ? '  ' : ''}${add(random.text())}\n\n${random.maybe() ? '12 345\n\n' : ''}`).join('');
});

const html = sample((random, texts) => {
  const add = (text: string): string => escapeXml(adder(texts)(text));
  const title = add(random.text());
  const block = (): string => {
    const [a, b] = [random.text(), random.text()].map(escapeXml);
    switch (random.number(5)) {
      case 0:
        texts.push(`${a} <x1>${b}</x1>!`);
        return `<p class=a>\n  ${a} <a href="/x">${b}</a>!\n</p>`;
      case 1:
        return `<ul><li>${add(random.text())}<ul><li dir=rtl>${add(random.text())}</ul><li>${add(random.text())}</ul>`;
      case 2:
        return `<table><tr><th>${add(random.text())}<td>${add(random.text())}</table>`;
      case 3:
        texts.push(`${a} <x1/> ${b}`, 'A picture');
        return `<div><!-- no --><em>${a} <img src="a.png" alt="A picture"> ${b}</em></div>`;
      default:
        texts.push(`${a} <x1/><x2/>${b}`);
        return `<p>${a} <code>let a = "b";</code><br>${b}<script>if (a < b) write("<p>no")</script>`;
    }
  };
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title><style>p { color: red }</style></head>\n<body>\n${many(random, block).join('\n')}\n</body></html>\n`;
});

const time = (seconds: number, point: string): string =>
  `00:${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}${point}500`;

const subRip = sample((random, texts) =>
  many(random, (index) => {
    const [a, b] = [random.text(true), random.text(true)];
    texts.push(index % 2 === 0 ? `${a}\n${b}` : `${a} <x1>${b}</x1>`);
    return `${index + 1}\n${time(index, ',')} --> ${time(index + 1, ',')}\n${index % 2 === 0 ? `${a}\n${b}` : `{\\an8}${a} <i>${b}</i>`}\n\n`;
  }).join(''),
);

const webVtt = sample((random, texts) => {
  const cues = many(random, (index) => {
    const [a, b] = [random.text(), random.text()];
    texts.push(index % 2 === 0 ? `${a}\n${b}` : `${escapeXml(a)} <x1>${escapeXml(b)}</x1>`);
    const text = index % 2 === 0 ? `<v Ann>${escapeXml(a)}\n${escapeXml(b)}` : `${escapeXml(a)} <c.red>${escapeXml(b)}</c>`;
    return `cue ${index}\n${time(index, '.')} --> ${time(index + 1, '.')} align:start\n${text}\n\n`;
  });
  return `WEBVTT - no\n\nNOTE\nno --> yes\n\nSTYLE\n::cue { color: red }\n\n${cues.join('')}`;
});

const xliff1 = sample((random, texts) => {
  const units = many(random, (index) => {
    const [a, b] = [random.text(), random.text()].map(escapeXml);
    const isLeft = index % 4 === 3;
    if (!isLeft) texts.push(`${a} <x1>${b}</x1><x2/>!`);
    const target = ['', '<target/>', '<target state="new">old</target>', '<target>kept</target>'][index % 4]!;
    return `<trans-unit id="${index}">\n<source>${a} <g id="1">${b}</g><x id="2"/>!</source>${target}\n</trans-unit>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" original="a"><body>${units.join('\n')}<trans-unit id="n" translate="no"><source>no</source></trans-unit></body></file></xliff>\n`;
});

const xliff2 = sample((random, texts) => {
  const units = many(random, (index) => {
    const [a, b] = [random.text(), random.text()].map(escapeXml);
    texts.push(`${a} <x1>${b}</x1><x2/>!`);
    return `<unit id="${index}"><notes><note>no</note></notes><segment>\n<source>${a} <pc id="1">${b}</pc><ph id="2"/>!</source>\n</segment></unit>`;
  });
  return `<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">${units.join('\n')}<unit id="n" translate="no"><segment><source>no</source></segment></unit></file></xliff>\n`;
});

/** The name of a format, and what makes a file of it. */
const TEXT_SAMPLES: readonly (readonly [format: string, sample: (seed: number) => SampleDocument])[] = [
  ['txt', plain],
  ['html', html],
  ['srt', subRip],
  ['vtt', webVtt],
  ['xlf', xliff1],
  ['xliff', xliff2],
];

/** With these, the source stays and the translation has a place of its own, which is empty before. */
const BILINGUAL: ReadonlySet<string> = new Set(['xlf', 'xliff']);

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
  readonly due: readonly string[];
  /** Entries of an archive that were lost or changed although nothing in them is text. */
  readonly changed: readonly string[];
}

/** Entries in which a text may be. */
const WITH_TEXTS =
  /^(?:content|styles)\.xml$|^(?:word|xl|ppt)\/(?:(?!_rels\/|media\/|tables\/|workbook|presentation|slideMasters\/|slideLayouts\/).)+\.xml$/;

export function roundTrip(format: string, { bytes, texts: expected }: SampleDocument): RoundTrip {
  expect(firstLook(formatOf(`a.${format}`)!, bytes)).toBeUndefined();
  const texts = textsOf(format, bytes);
  const due = texts.map(upperCase);
  const built = builtWith(format, bytes, due);
  const isBilingual = BILINGUAL.has(format);
  const wordsOf = (all: readonly { readonly text: string }[]) => all.map(({ text }) => text);
  return {
    expected,
    found: wordsOf(texts),
    isSame: isBilingual || builtWith(format, bytes, wordsOf(texts)).equals(bytes),
    again: isBilingual ? numbersOf(built.toString()) : wordsOf(textsOf(format, built)),
    due: isBilingual ? numbersOf(due.join()) : due,
    changed: bytes[0] === 0x50 && bytes[1] === 0x4b ? changedEntries(bytes, built) : [],
  };
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
