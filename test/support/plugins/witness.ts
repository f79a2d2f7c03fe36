// A plugin that records every request whose chain was started, with the mark that the request carries.
import Type from 'typebox';
import { definePlugin } from 'lingate';

interface Witnessed {
  /** The value of `X-Case`; empty without one. */
  readonly mark: string;
  readonly method: string;
  readonly path: string;
  /** The value of `X-Front`: what a front proxy made of the request that it forwarded. */
  readonly front: string | undefined;
}

const witnessed: Witnessed[] = [];

/** Every request so far, in order. */
export function everyWitnessed(): readonly Witnessed[] {
  return witnessed;
}

export default definePlugin({
  name: 'witness',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    steps: [
      {
        after: 'access-log',
        step: {
          kind: 'head',
          name: 'witness',
          headers: ['x-case', 'x-front'],
          run({ head }) {
            const { method, path, headers } = head;
            witnessed.push({ mark: headers['x-case'] ?? '', method, path, front: headers['x-front'] });
            return undefined;
          },
        },
      },
    ],
  }),
});
