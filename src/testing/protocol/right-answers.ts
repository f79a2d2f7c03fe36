// Cases with a well-behaved engine: every text is translated, in order, and only what was requested is sent.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { scriptedTranslation } from '../scripted-engine.ts';
import { TRACEPARENT, workOf } from './bench.ts';
import type { Bench } from './bench.ts';

/** Without white space at the ends, which some engines do not preserve. */
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

  it('equal texts are not merged', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Hello', 'Hello']));
    expect(textsOf(result)).toEqual(Array.from({ length: 3 }, () => scriptedTranslation('Hello', 'DE')));
  });

  it('it also translates without a source language', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Good night'], { sourceLang: undefined }));
    expect(textsOf(result)).toEqual(['Hello', 'Good night'].map((entry) => scriptedTranslation(entry, 'DE')));
  });

  it('a text of only white space does not affect the others', async () => {
    const result = await bench.translate(await bench.replicas(), workOf([' \n', 'Hello']));
    expect(textsOf(result)[1]).toBe(scriptedTranslation('Hello', 'DE'));
  });

  it('every call carries the request id, numbered from the second call on, and the trace', async () => {
    const replicas = await bench.replicas();
    const work = workOf(['Hello', 'Good night'], { sourceLang: undefined });
    await bench.translate(replicas, work);
    const requests = replicas.flatMap((replica) => replica.requests);
    expect(requests.length).toBeAtLeast(1);
    const ids = requests.map(({ headers }) => String(headers['x-request-id']));
    expect(ids.toSorted()).toEqual(ids.map((_, i) => (i === 0 ? work.requestId : `${work.requestId}-1-${i + 1}`)).toSorted());
    for (const { headers } of requests) expect(headers).toMatchObject({ traceparent: TRACEPARENT });
  });

  it('no path contains a secret', async () => {
    const replicas = await bench.replicas();
    await bench.translate(replicas, workOf(['Hello'], { sourceLang: undefined }));
    for (const secret of bench.secrets()) {
      for (const { path } of replicas.flatMap((replica) => replica.requests)) expect(path).notToContain(secret);
    }
  });

  if (protocol.can?.formats?.includes('html') === true) {
    it('markup is preserved', async () => {
      const result = await bench.translate(await bench.replicas(), workOf(['<p>Hello <b>you</b></p>'], { format: 'html' }));
      expect(textsOf(result)).toEqual([scriptedTranslation('<p>Hello <b>you</b></p>', 'DE')]);
    });
  }
}

function textsOf(result: Awaited<ReturnType<Bench['translate']>>): readonly string[] {
  return result.kind === 'usable' ? result.translations.map(({ text }) => text) : result.failures;
}
