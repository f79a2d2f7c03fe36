// Adds a route: how many characters the caller's team has used.
import Type from 'typebox';
import { definePlugin, isUnavailable, json, keyOwnerSlot, STORE_UNAVAILABLE } from 'lingate';

export default definePlugin({
  name: 'meter',
  options: Type.Object({}),
  setup: () => ({
    routes: [
      {
        method: 'GET',
        path: '/meter',
        takesBody: false,
        steps: ['access-log', 'shed', 'identify', 'authenticate', 'team-shed', 'admit', 'meter-answer'],
      },
    ],
    routeSteps: ({ teams }) => [
      {
        kind: 'body',
        name: 'meter-answer',
        async run(x) {
          const usage = await teams.usage(x.need(keyOwnerSlot).teamId);
          if (isUnavailable(usage)) return STORE_UNAVAILABLE;
          return json(JSON.stringify({ characters: usage?.characters ?? 0 }));
        },
      },
    ],
  }),
});
