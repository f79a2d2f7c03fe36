// A test plugin: a step after the admission that fails on command, and one that marks a request for it.
import Type from 'typebox';
import { definePlugin } from 'lingate';

export default definePlugin({
  name: 'fault',
  options: Type.Object({}, { additionalProperties: false }),
  setup(_options, host) {
    const ordered = host.reserveSlot<string>('wanted fault');
    return {
      steps: [
        {
          after: 'identify',
          routes: ['POST /v1/translate'],
          step: {
            kind: 'head',
            name: 'fault-mark',
            headers: ['x-test-fault'],
            run(x) {
              const fault = x.head.headers['x-test-fault'];
              if (fault !== undefined) x.set(ordered, fault);
              return undefined;
            },
          },
        },
        {
          after: 'admit',
          routes: ['POST /v1/translate'],
          step: {
            kind: 'body',
            name: 'fault',
            run(x) {
              if (x.get(ordered) === 'throw') throw new Error('fault-plugin: thrown on command');
              return undefined;
            },
          },
        },
      ],
    };
  },
});
