// lingate routes: the final order of steps of every route, plugins included.
import { describeRoutes } from '../../app/route-rows.ts';
import type { Command } from '../command.ts';
import { textTable } from '../text-table.ts';

export const routes: Command = {
  name: 'routes',
  summary: 'Shows the steps that each route runs through, plugins included.',
  usage: '',
  flags: {},
  examples: ['lingate routes'],
  async run(context) {
    const config = await context.config();
    const described = await describeRoutes(config);
    context.print({ routes: described }, () =>
      textTable(
        ['ROUTE', 'STEPS'],
        described.map(({ route, steps }) => [route, steps.join(' > ')]),
      ),
    );
  },
};
