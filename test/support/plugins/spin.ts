// A plugin whose step keeps the CPU busy, so that the event loop falls behind.
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
