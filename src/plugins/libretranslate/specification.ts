// GET /spec: this API's OpenAPI document under the title by which clients recognise a LibreTranslate; it needs no key, as there.
import Type from 'typebox';
import { validated } from 'lingate';
import type { RouteDoc } from 'lingate';
import { answer, keylessRoute, keylessStep } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { madeOnce } from '../facades/default-variants.ts';
import { answered, string } from '../facades/reference.ts';

/** Clients such as Dialect compare it. */
const TITLE = 'LibreTranslate';

const DOC: RouteDoc = {
  summary: 'Read the description of this API',
  description: 'The OpenAPI document of this API.',
  authenticated: false,
  tag: 'Front ends',
  answer: answered(
    'The document.',
    Type.Object({
      openapi: string('The version of OpenAPI.'),
      info: Type.Object({ title: Type.Literal(TITLE), version: Type.String() }),
      paths: Type.Record(Type.String(), Type.Unknown()),
    }),
    { openapi: '3.1.0', info: { title: TITLE, version: '1' }, paths: {} },
  ),
};

export function specification(): ApiPart {
  return {
    routes: [keylessRoute('/spec', ['access-log', 'shed', 'libretranslate-spec'], DOC)],
    steps(services) {
      const answerFor = madeOnce(() => {
        const { info, ...rest } = services.apiDocument('libretranslate');
        return validated(answer({ ...rest, info: { ...(info as object), title: TITLE } }));
      });
      return [keylessStep('libretranslate-spec', () => answerFor(services.languages()))];
    },
  };
}
