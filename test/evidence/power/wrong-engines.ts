// Wrong engine protocols: each is the example's with one lie, and the part of the protocol contract that must notice it.
import { mine } from '../../../config/examples/own-protocol.ts';
import type { EngineCall, EngineProtocol, EngineWire, EngineWork, JudgeResponse } from '../../../src/ports/engine.ts';
import { wrongIn } from './lies.ts';

/** With the example's options. */
export type Protocol = EngineProtocol<NonNullable<typeof mine.options>>;

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

export const WRONG_ENGINES = wrongIn<Protocol>({
  'right answers: 2 texts': {
    'call: texts in another order': bodies((asked) => ({ ...asked, in: asked.in.toReversed() })),
    'call: every text is the first': bodies((asked) => ({ ...asked, in: asked.in.map(() => asked.in[0]!) })),
  },
  'right answers: 1 texts': {
    'call: into another language': bodies((asked) => ({ ...asked, to: 'FR' })),
  },
  'right answers: 7 texts': {
    'call: lines are joined': bodies((asked) => ({ ...asked, in: asked.in.map((one) => one.replaceAll('\n', ' ')) })),
  },
  'right answers: equal texts': {
    'call: equal texts are sent once': bodies((asked) => ({ ...asked, in: [...new Set(asked.in)] })),
  },
  'right answers: a text of only white space': {
    'call: white space is no text': bodies((asked) => ({ ...asked, in: asked.in.filter((one) => one.trim() !== '') })),
  },
  'right answers: every call': {
    'call: without the trace': calls(({ headers: { traceparent: _trace, ...headers }, ...call }) => ({ ...call, headers })),
  },
  'right answers: no path': {
    'call: the key in the path': calls((call) => ({
      ...call,
      path: `/mine?key=${call.headers['authorization']!.slice('Bearer '.length)}`,
    })),
  },
  'conduct: an attempt tries once': {
    'call: an attempt asks twice': {
      ...mine,
      async attempt(work, wire, options) {
        await wire.call({ method: 'POST', path: '/mine', headers: {}, body: JSON.stringify({ in: work.text, to: 'DE' }) });
        return mine.attempt(work, wire, options);
      },
    },
  },
  'unusable answers: status 5': {
    'answer: a status other than 200 is taken': judges((right) => (response, work) => right({ ...response, status: 200 }, work)),
  },
  'unusable answers: status 200 with': {
    'answer: what is unusable leaves the texts as they are': judges((right) => (response, work) => {
      const judged = right(response, work);
      return judged.kind === 'usable' ? judged : untranslated(response, work);
    }),
  },
  'unusable answers: status 200 with one too few': {
    'answer: a missing translation is the text itself': judges((right) => (response, work) => {
      const judged = right(response, work);
      const fewer = right(response, { ...work, text: work.text.slice(1) });
      if (judged.kind === 'usable' || fewer.kind !== 'usable') return judged;
      return { ...fewer, translations: [...fewer.translations, { text: work.text.at(-1)!, detectedSourceLanguage: undefined }] };
    }),
  },
});
