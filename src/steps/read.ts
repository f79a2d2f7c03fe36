// Parses and judges the body. Its verdict is kept: a revoked key or a throttled team is told so whatever the body says.
import type { BodyStep } from '../core/step.ts';
import { bodyVerdictSlot } from '../domain/slots.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import type { Languages } from '../domain/languages.ts';
import { judgeTranslateBody } from '../domain/translate-request.ts';

/** `languages` is asked anew for each request: the operator may change the list while we run. */
export function readStep(languages: () => Languages, bodyBytesMax: number): BodyStep {
  return {
    kind: 'body',
    name: 'read',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const json = readJsonBody(x.head.headers, x.body, bodyBytesMax);
      const verdict =
        json.kind === 'value'
          ? judgeTranslateBody(json.value, languages())
          : ({ kind: 'invalid', refusal: json.refusal, characters: undefined } as const);
      x.set(bodyVerdictSlot, verdict);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      return undefined;
    },
  };
}
