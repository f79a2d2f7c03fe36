// Which engine gets a document as a file, in which order, and which answers are files.
import { expect, test } from 'vitest';
import { capabilitiesOf } from '../../../src/domain/engine-capabilities.ts';
import { offersOfSeveral } from '../../../src/domain/engine-offer.ts';
import type { OfferedEngine } from '../../../src/domain/engine-offer.ts';
import { ALL_FORMATS, formatOf } from '../../../src/documents/format-table.ts';
import { firstLook } from '../../../src/documents/first-look.ts';
import { traceparentForward } from '../../../src/domain/traceparent.ts';
import type { DocumentRecord } from '../../../src/ports/documents.ts';
import type { FailureDetail, TranslatedFile } from '../../../src/ports/engine.ts';
import { isTaken, passFile } from '../../../src/runtime/file-passing.ts';

const CAN = capabilitiesOf();
const TABLE = {
  sources: [{ code: 'EN', name: 'English' }],
  targets: [{ code: 'DE', name: 'German', formality: true }],
};
const file = (text: string): TranslatedFile => ({ bytes: Buffer.from(text), billed: undefined });

/** `takers` read pdf and txt, the other engines nothing. */
function setting(names: readonly string[], takers: readonly string[], answers: readonly (TranslatedFile | FailureDetail)[] = []) {
  const engines = names.map((name): OfferedEngine => ({ name, can: CAN, pairs: undefined }));
  const asked: string[] = [];
  const seen: string[] = [];
  const left = [...answers];
  const options = {
    files: {
      formatsOf: (name: string) => (takers.includes(name) ? ['pdf', 'txt'] : []),
      translate(name: string, _work: unknown, { second }: { readonly second: boolean }) {
        asked.push(second ? `${name} elsewhere` : name);
        return Promise.resolve(left.shift() ?? { failure: 'internal' as const });
      },
    },
    offers: { current: offersOfSeveral(TABLE, engines, undefined) },
    formats: { all: ALL_FORMATS, formatOf, firstLook },
    isSpent: (name: string) => name === 'spent',
    passTraceparent: traceparentForward,
    onFailures: (failures: readonly string[]) => void seen.push(...failures),
  };
  const pass = (fileName: string, sent: string, texts: readonly string[] | undefined) =>
    passFile(
      {
        document: { fileName, targetLang: 'DE', sourceLang: 'EN', teamId: 't' } as DocumentRecord,
        bytes: Buffer.from(sent),
        isReadable: texts !== undefined,
        characters: 5,
        released: new AbortController().signal,
      },
      '',
      {
        ...options,
        requestId: 'r',
      },
    );
  return { options, asked, seen, pass };
}

const PDF = '%PDF-1.7 a';

test('two attempts: the second by the next engine, or elsewhere by the only one', async () => {
  const two = setting(['a', 'b'], ['a', 'b'], [{ failure: 'status' }, file('%PDF-1.7 b')]);
  expect(await two.pass('x.pdf', PDF, undefined)).toMatchObject({ billed: undefined });
  expect(two.asked).toEqual(['a', 'b']);
  const one = setting(['a'], ['a'], [{ failure: 'status' }, { failure: 'reset' }]);
  expect(await one.pass('x.pdf', PDF, undefined)).toMatchObject({ problem: { code: 'engine_unavailable' } });
  expect([one.asked, one.seen]).toEqual([
    ['a', 'a elsewhere'],
    ['status', 'reset'],
  ]);
  expect(two.seen).toEqual(['status']);
});

test('what is not of the format that was sent is no answer', async () => {
  const wrong = setting(['a'], ['a'], [file('<html>'), file('')]);
  expect(await wrong.pass('x.pdf', PDF, undefined)).toMatchObject({ problem: { code: 'engine_unavailable' } });
  const binary = setting(['a'], ['a'], [file('a\u0000'), file('Hallo')]);
  expect(await binary.pass('x.txt', 'Hello', ['Hello'])).toEqual(file('Hallo'));
});

test('texts are translated as texts by an engine that takes no files, first or second', async () => {
  const first = setting(['b', 'a'], ['a']);
  expect([await first.pass('x.txt', 'Hello', ['Hello']), first.asked]).toEqual([undefined, []]);
  const second = setting(['a', 'b'], ['a'], [{ failure: 'timeout' }]);
  expect([await second.pass('x.txt', 'Hello', ['Hello']), second.asked]).toEqual([undefined, ['a']]);
});

test('what only engines read goes to those that take it, and not to one that is spent', async () => {
  const order = { fileName: 'x.pdf', sourceLang: 'EN', targetLang: 'DE', formality: undefined, glossaryId: undefined };
  const { options, pass, asked } = setting(['b', 'spent', 'a'], ['spent', 'a'], [file('%PDF-1.7 b')]);
  expect([isTaken(order, undefined, options), isTaken({ ...order, fileName: 'x.rar' }, undefined, options)]).toEqual([true, false]);
  expect(isTaken({ ...order, glossaryId: 'g' }, undefined, options)).toBe(false);
  expect(await pass('x.pdf', PDF, undefined)).toMatchObject({ billed: undefined });
  expect(asked).toEqual(['a']);
});

test('what every attempt refuses is the fault of the file, or of its length or format alone', async () => {
  const refused = (status: number): FailureDetail => ({ failure: 'file_refused', status });
  const problemOf = async (answers: readonly FailureDetail[], texts: readonly string[] | undefined) => {
    const passed = await setting(['a'], ['a'], answers).pass(texts === undefined ? 'x.pdf' : 'x.txt', PDF, texts);
    return passed === undefined ? 'texts' : 'problem' in passed ? passed.problem.code : 'file';
  };
  expect(await problemOf([refused(400), refused(413)], undefined)).toBe('validation_error');
  expect(await problemOf([refused(413), refused(413)], undefined)).toBe('validation_error');
  expect(await problemOf([refused(413), refused(415)], ['Hello'])).toBe('texts');
  expect(await problemOf([refused(400), refused(413)], ['Hello'])).toBe('validation_error');
  expect(await problemOf([refused(400), { failure: 'connect' }], ['Hello'])).toBe('engine_unavailable');
});
