// Answers every request with its own problem code while the service is closed.
import Type from 'typebox';
import { definePlugin } from 'lingate';

export default definePlugin({
  name: 'maintenance',
  options: Type.Object({ closed: Type.Boolean() }),
  problems: { maintenance: { status: 503, title: 'Closed for maintenance', retry: true } },
  setup: ({ closed }, host) => ({
    steps: [
      {
        after: 'identify',
        step: { kind: 'head', name: 'maintenance', run: () => (closed ? host.refuse('maintenance', 'Back in an hour.') : undefined) },
      },
    ],
  }),
});
