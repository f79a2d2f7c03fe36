// lingate store check --accept-clock: makes every process of a store believe the clock as it is now, although it seems wrong.
import { withoutCredentials } from '../../domain/store-url.ts';
import { stepText } from '../../domain/clock-judge.ts';
import { storeErrorOf } from '../../domain/store-unavailable.ts';
import { AuditOperations } from '../../admin/audit-operations.ts';
import type { AcceptedClock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import { CommandFailure } from '../command.ts';
import type { CommandContext } from '../command.ts';
import { commandOn, valueFrom, withStore } from '../with-store.ts';

export async function acceptClock(context: CommandContext): Promise<void> {
  await withStore(context, async (store, config, nowMs) => {
    const { nowMs: acceptedMs, steppedMs } = await accepted(store);
    const audit = new AuditOperations(commandOn(store, config, nowMs));
    valueFrom(await audit.acceptClock(acceptedMs));
    const clock = new Date(acceptedMs).toISOString();
    const shown = { store: withoutCredentials(config.store), clock, stepped_seconds: Math.round(steppedMs / 1000) };
    context.print(shown, () =>
      [
        `The clock is accepted: ${clock}${steppedMs === 0 ? '' : `, which is ${stepText(steppedMs)} the latest time of the store`}.`,
        'All gateways of the store go by it within two seconds.',
      ].join(' '),
    );
  });
}

async function accepted({ clock }: Store): Promise<AcceptedClock> {
  const answer = await clock.accept();
  if (answer.kind === 'unavailable') throw storeErrorOf(answer);
  if (answer.kind === 'accepted') return answer;
  const times = answer.servers.map(({ server, nowMs }) => `${server} ${new Date(nowMs).toISOString()}`).join(', ');
  throw new CommandFailure(
    `the clocks of the servers disagree by more than an hour, so that none is accepted: ${times}; set the wrong ones`,
  );
}
