// Glossary entries as TSV and CSV: what is accepted, what is refused and at which line, and that nothing is lost.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entriesTsv, parseEntries } from '../../../../src/plugins/deepl-v2/glossary-entries.ts';
import { isRefusal } from '../../../../src/plugins/facades/parameters.ts';
import type { EntriesFormat } from '../../../../src/plugins/deepl-v2/glossary-entries.ts';

const fits = (source: string, target: string): boolean => source.toLowerCase() === 'en' && target.toLowerCase() === 'de';

/** The entries, or the refusal's detail. */
function parsed(text: string, format: EntriesFormat): unknown {
  const judged = parseEntries(text, format, fits);
  return isRefusal(judged) ? judged.problem.detail : judged;
}

describe('accepted', () => {
  test.each<[name: string, format: EntriesFormat, text: string, entries: Readonly<Record<string, string>>]>([
    ['one line', 'tsv', 'a\tb', { a: 'b' }],
    ['line ends of three kinds, and empty lines', 'tsv', '\na\tb\r\n\r\nc\td\re\tf\n\n', { a: 'b', c: 'd', e: 'f' }],
    ['surrounding white space, which is dropped', 'tsv', ' a \t\u00a0b ', { a: 'b' }],
    ['quotes and commas in TSV, which have no meaning there', 'tsv', '"a,"\t"b"', { '"a,"': '"b"' }],
    ['a byte order mark', 'tsv', '\ufeffa\tb', { a: 'b' }],
    [
      'terms that are names of Object’s own members',
      'tsv',
      '__proto__\tx\nconstructor\ty\ntoString\tz',
      JSON.parse('{"__proto__":"x","constructor":"y","toString":"z"}'),
    ],
    ['one row', 'csv', 'a,b', { a: 'b' }],
    ['rows with languages at the end, in any case', 'csv', 'a,b,EN,de\n"c","d"," en "," DE "', { a: 'b', c: 'd' }],
    ['quoted fields with commas and quotes', 'csv', '"a,b","c""d"\r\n"""e""","f"', { 'a,b': 'c"d', '"e"': 'f' }],
    ['empty rows, and a byte order mark before a quoted field', 'csv', '\ufeff"a",b\n\n\r\nc,d\n', { a: 'b', c: 'd' }],
    ['letters of any script', 'csv', 'Δぁ,深\n🪨,🪵', { Δぁ: '深', '🪨': '🪵' }],
  ])('%s (%s)', (_name, format, text, entries) => {
    expect(parsed(text, format)).toEqual(entries);
  });
});

describe('refused with the line’s number and without quoting it', () => {
  test.each<[text: string, format: EntriesFormat, words: RegExp]>([
    ['', 'tsv', /^'entries': there must be at least one\.$/],
    ['\n\r\n', 'tsv', /at least one/],
    ['\ufeff', 'csv', /at least one/],
    ['a', 'tsv', /line 1: must be a term, a tab and its translation/],
    ['a\tb\n\nc\td\te', 'tsv', /line 3: must be a term, a tab/],
    ['a\t', 'tsv', /line 1: its translation is empty/],
    ['\tb', 'tsv', /line 1: its term is empty/],
    [' \t \n', 'tsv', /line 1: its term is empty/],
    ['a\tb\n a\tc', 'tsv', /line 2: its term occurs twice/],
    ['a\u0007\tb', 'tsv', /line 1: its term contains a line break or a control character/],
    ['a\tb\u2028c', 'tsv', /line 1: its translation contains a line break/],
    ['a\tb\u0085c', 'tsv', /line 1: its translation contains a line break/],
    [`a\t${'é'.repeat(513)}`, 'tsv', /line 1: its translation is longer than 1024 bytes/],
    ['a\t\ud800', 'tsv', /half of a surrogate pair/],
    ['a', 'csv', /line 1: must be a term and its translation/],
    ['a,b,en', 'csv', /line 1: must be a term and its translation/],
    ['a,b,en,de,x', 'csv', /line 1: must be/],
    [`a,b${','.repeat(9)}"`, 'csv', /line 1: must be/],
    [`a\tb${'\t'.repeat(9)}`, 'tsv', /line 1: must be/],
    [`${'\r\n'.repeat(5)}\r\n\r\na`, 'tsv', /line 8: must be/],
    [`${'\n\r'.repeat(5)}a`, 'csv', /line 7: must be/],
    ['a,b\nc,d,en,fr', 'csv', /line 2: its languages are not those of the dictionary/],
    ['a,b,,', 'csv', /line 1: its languages are not/],
    ['"a,b', 'csv', /line 1: a quoted field has no closing quote/],
    ['x,y\n"a"b,c', 'csv', /line 2: there is something after a closing quote/],
    ['a"b,c', 'csv', /line 1: there is a quote in an unquoted field/],
    ['"a\nb",c', 'csv', /line 1: a quoted field contains a line break/],
    [',b', 'csv', /line 1: its term is empty/],
    ['"",b', 'csv', /line 1: its term is empty/],
    ['""', 'csv', /line 1: must be a term/],
    ['a,', 'csv', /line 1: its translation is empty/],
    ['secret,b\nsecret,c', 'csv', /^'entries': line 2: its term occurs twice\.$/],
  ])('%j (%s)', (text, format, words) => {
    expect(parsed(text, format)).toMatch(words);
  });

  test('10,000 entries are accepted, one more is not', () => {
    const lines = Array.from({ length: 10_001 }, (_, i) => `Source-${i}\tTarget-${i}`);
    expect(Object.keys(parsed(lines.slice(1).join('\n'), 'tsv') as object)).toHaveLength(10_000);
    expect(parsed(lines.join('\n'), 'tsv')).toBe("'entries': there may be at most 10000.");
  });
});

/** A valid term: no line break, no control character, no surrounding white space, not empty. */
const term = fc
  .string({ unit: fc.constantFrom('a', 'B', ' ', '"', ',', "'", 'é', '深', '🪵', '\\', '%', '=', ';') })
  .map((text) => text.trim())
  .filter((text) => text !== '');
const entries = fc.array(fc.tuple(term, term), { minLength: 1, maxLength: 30 }).map((pairs) => Object.fromEntries(pairs));
const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\n\n');

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const field = (text: string, wantsQuotes: boolean): string => (wantsQuotes || /["]/.test(text) || text.includes(',') ? quoted(text) : text);

test('whatever is written as TSV is read back unchanged', () => {
  fc.assert(
    fc.property(entries, (original) => {
      expect(parsed(entriesTsv(original), 'tsv')).toEqual(original);
    }),
  );
});

test('CSV of any other program is read as it was meant, with any quotes, line ends and languages', () => {
  fc.assert(
    fc.property(entries, lineEnd, fc.boolean(), fc.boolean(), (original, end, wantsQuotes, withLanguages) => {
      const rows = Object.entries(original).map(([source, target]) =>
        [source, target, ...(withLanguages ? ['en', 'DE'] : [])].map((text) => field(text, wantsQuotes)).join(','),
      );
      expect(parsed(rows.join(end), 'csv')).toEqual(original);
    }),
  );
});

test.each(['tsv', 'csv'] as const)('any text is refused or accepted, and if accepted has valid entries (%s)', (format) => {
  const any = fc.string({ unit: fc.constantFrom('a', ',', '"', '\t', '\n', '\r', ' ', '\ufeff', '\0', '🪵', 'en', 'de') });
  fc.assert(
    fc.property(any, (text) => {
      const verdict = parsed(text, format);
      if (typeof verdict === 'string') {
        expect(verdict).toMatch(/^'entries': .*\.$/s);
        return;
      }
      for (const pair of Object.entries(verdict as object)) for (const side of pair as string[]) expect(side).toBe(side.trim());
      expect(parsed(entriesTsv(verdict as Record<string, string>), 'tsv')).toEqual(verdict);
    }),
  );
});

test('a megabyte of anything is read in linear time', () => {
  for (const unit of ['"', '""', 'a,b\n', ',', '\t', '\n', '"a"', '"a",', 'a"']) {
    const text = unit.repeat(1_048_576 / unit.length);
    const before = process.cpuUsage();
    for (const format of ['tsv', 'csv'] as const) parseEntries(text, format, fits);
    // About 20 ms; quadratic time would be minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  }
});

test('a quoted field longer than any term with its white space is refused', () => {
  expect(parsed(`a,"${'""'.repeat(40_000)}"`, 'csv')).toMatch(/line 1: a quoted field is longer than 65536 characters/);
});
