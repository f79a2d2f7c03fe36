// Wrong engine protocols: each is the example's with one lie, and the part of the protocol contract that must notice it.
import { mine } from '../../../config/examples/own-protocol.ts';
import type { EngineCall, EngineProtocol, EngineWire, EngineWork, JudgeResponse } from '../../../src/ports/engine.ts';

/** With the example's options. */
export type Protocol = EngineProtocol<NonNullable<typeof mine.options>>;

interface WrongEngine {
  readonly name: string;
  /** How the names of the contract's cases begin of which one must fail. */
  readonly part: string;
  readonly protocol: Protocol;
}

interface Asked {
  readonly in: readonly string[];
  readonly to: string;
}

type Sent = Parameters<EngineWire['send']>;

/** Another call is made than the right protocol's, or its answer is judged otherwise. */
function sends(change: (sent: Sent, work: EngineWork) => Sent): Protocol {
  return {
    ...mine,
    attempt: (work, wire, options) =>
      mine.attempt(
        work,
        {
          attempt: wire.attempt,
          replica: wire.replica,
          call: (call) => wire.call(call),
          send: (...sent) => wire.send(...change(sent, work)),
        },
        options,
      ),
  };
}

const calls = (change: (call: EngineCall, work: EngineWork) => EngineCall): Protocol =>
  sends(([call, judge], work) => [change(call, work), judge]);
const judges = (change: (right: JudgeResponse) => JudgeResponse): Protocol => sends(([call, judge]) => [call, change(judge)]);

function bodies(change: (asked: Asked) => Asked): Protocol {
  return calls((call) => ({ ...call, body: JSON.stringify(change(JSON.parse(call.body!) as Asked)) }));
}

const untranslated: JudgeResponse = (_response, { text }) => ({
  kind: 'usable',
  translations: text.map((one) => ({ text: one, detectedSourceLanguage: undefined })),
});

export const WRONG_ENGINES: readonly WrongEngine[] = [
  {
    name: 'call: texts in another order',
    part: 'right answers: 2 texts',
    protocol: bodies((asked) => ({ ...asked, in: asked.in.toReversed() })),
  },
  {
    name: 'call: every text is the first',
    part: 'right answers: 2 texts',
    protocol: bodies((asked) => ({ ...asked, in: asked.in.map(() => asked.in[0]!) })),
  },
  { name: 'call: into another language', part: 'right answers: 1 texts', protocol: bodies((asked) => ({ ...asked, to: 'FR' })) },
  {
    name: 'call: lines are joined',
    part: 'right answers: 7 texts',
    protocol: bodies((asked) => ({ ...asked, in: asked.in.map((one) => one.replaceAll('\n', ' ')) })),
  },
  {
    name: 'call: equal texts are sent once',
    part: 'right answers: equal texts',
    protocol: bodies((asked) => ({ ...asked, in: [...new Set(asked.in)] })),
  },
  {
    name: 'call: white space is no text',
    part: 'right answers: a text of only white space',
    protocol: bodies((asked) => ({ ...asked, in: asked.in.filter((one) => one.trim() !== '') })),
  },
  {
    name: 'call: without the trace',
    part: 'right answers: every call',
    protocol: calls(({ headers: { traceparent: _trace, ...headers }, ...call }) => ({ ...call, headers })),
  },
  {
    name: 'call: the key in the path',
    part: 'right answers: no path',
    protocol: calls((call) => ({ ...call, path: `/mine?key=${call.headers['authorization']!.slice('Bearer '.length)}` })),
  },
  {
    name: 'call: an attempt asks twice',
    part: 'conduct: an attempt tries once',
    protocol: {
      ...mine,
      async attempt(work, wire, options) {
        await wire.call({ method: 'POST', path: '/mine', headers: {}, body: JSON.stringify({ in: work.text, to: 'DE' }) });
        return mine.attempt(work, wire, options);
      },
    },
  },
  {
    name: 'answer: a status other than 200 is taken',
    part: 'unusable answers: status 5',
    protocol: judges((right) => (response, work) => right({ ...response, status: 200 }, work)),
  },
  {
    name: 'answer: what is unusable leaves the texts as they are',
    part: 'unusable answers: status 200 with',
    protocol: judges((right) => (response, work) => {
      const judged = right(response, work);
      return judged.kind === 'usable' ? judged : untranslated(response, work);
    }),
  },
  {
    name: 'answer: a missing translation is the text itself',
    part: 'unusable answers: status 200 with one too few',
    protocol: judges((right) => (response, work) => {
      const judged = right(response, work);
      const fewer = right(response, { ...work, text: work.text.slice(1) });
      if (judged.kind === 'usable' || fewer.kind !== 'usable') return judged;
      return { ...fewer, translations: [...fewer.translations, { text: work.text.at(-1)!, detectedSourceLanguage: undefined }] };
    }),
  },
];
