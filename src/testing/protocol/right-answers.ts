// Cases with a sound engine: every text gets its translation, in order, and only what was asked for is sent.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { scriptedTranslation } from '../scripted-engine.ts';
import { TRACEPARENT, workOf } from './bench.ts';
import type { Bench } from './bench.ts';

/** With no white space at their ends, which some engines do not keep. */
const TEXTS = [
  'Hello',
  '"quotes", \\backslashes\\ and {braces: "t0"}',
  '日本語 עברית ไทย é e\u0301',
  '👨‍👩‍👧‍👦 \u{10ffff}',
  '</script><b>a</b> & c; ${d} %s %00',
  '{"translations":[{"text":"no"}]}',
  'Two\nlines',
];

export function rightAnswers(it: AddCase, bench: Bench): void {
  const { protocol } = bench.subject;

  it.each([1, 2, 7, 50])('%i texts have as many translations, in order, in one attempt', async (count) => {
    const replicas = await bench.replicas();
    const text = Array.from({ length: count }, (_, index) => `${index}. ${TEXTS[index % TEXTS.length]!}`);
    const result = await bench.translate(replicas, workOf(text));
    expect(result).toMatchObject({ kind: 'usable', failures: [] });
    expect(textsOf(result)).toEqual(text.map((entry) => scriptedTranslation(entry, 'DE')));
  });

  it('equal texts are not taken for one', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Hello', 'Hello']));
    expect(textsOf(result)).toEqual(Array.from({ length: 3 }, () => scriptedTranslation('Hello', 'DE')));
  });

  it('without a source language it translates as well', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Good night'], { sourceLang: undefined }));
    expect(textsOf(result)).toEqual(['Hello', 'Good night'].map((entry) => scriptedTranslation(entry, 'DE')));
  });

  it('white space alone spoils nothing beside it', async () => {
    const result = await bench.translate(await bench.replicas(), workOf([' \n', 'Hello']));
    expect(textsOf(result)[1]).toBe(scriptedTranslation('Hello', 'DE'));
  });

  it('every call carries the id of the request, further ones with their number behind it, and its trace', async () => {
    const replicas = await bench.replicas();
    const work = workOf(['Hello', 'Good night'], { sourceLang: undefined });
    await bench.translate(replicas, work);
    const requests = replicas.flatMap((replica) => replica.requests);
    expect(requests.length).toBeAtLeast(1);
    const ids = requests.map(({ headers }) => String(headers['x-request-id']));
    expect(ids.toSorted()).toEqual(ids.map((_, i) => (i === 0 ? work.requestId : `${work.requestId}-1-${i + 1}`)).toSorted());
    for (const { headers } of requests) expect(headers).toMatchObject({ traceparent: TRACEPARENT });
  });

  it('secrets stand in no path', async () => {
    const replicas = await bench.replicas();
    await bench.translate(replicas, workOf(['Hello'], { sourceLang: undefined }));
    for (const secret of bench.secrets()) {
      for (const { path } of replicas.flatMap((replica) => replica.requests)) expect(path).notToContain(secret);
    }
  });

  if (protocol.can?.formats?.includes('html') === true) {
    it('markup goes there and back', async () => {
      const result = await bench.translate(await bench.replicas(), workOf(['<p>Hello <b>you</b></p>'], { format: 'html' }));
      expect(textsOf(result)).toEqual([scriptedTranslation('<p>Hello <b>you</b></p>', 'DE')]);
    });
  }
}

function textsOf(result: Awaited<ReturnType<Bench['translate']>>): readonly string[] {
  return result.kind === 'usable' ? result.translations.map(({ text }) => text) : result.failures;
}
