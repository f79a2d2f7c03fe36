// A plugin whose step keeps the processor busy: what an event loop that cannot keep up is made of.
import Type from 'typebox';
import { definePlugin } from 'lingate';

export default definePlugin({
  name: 'spin',
  options: Type.Object({ ms: Type.Integer({ minimum: 0 }) }, { additionalProperties: false }),
  setup: ({ ms }) => ({
    steps: [
      {
        after: 'identify',
        step: {
          kind: 'head',
          name: 'spin',
          run() {
            const endMs = performance.now() + ms;
            while (performance.now() < endMs);
            return undefined;
          },
        },
      },
    ],
  }),
});
