// Starts what runs once in a gateway, however many workers it has: the watch over all teams, and the sender of events.
import { missingPlans, missingPlanText, TEAMS_CHECKED_MAX } from '../admin/plan-comparison.ts';
import type { Config } from '../config/config.ts';
import { eventsSecret } from '../config/secrets.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { TeamGaugesOptions } from '../ops/metrics/scraped-series.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import { EventSender, SEND_MS, SENDS_MAX, Webhook } from '../runtime/event-sender.ts';
import { TeamWatch } from '../runtime/team-watch.ts';
import { withEngineEvents } from '../stores/records/record-engine-use.ts';
import { CLOUD_EVENT_TYPE, eventDocument } from './event-document.ts';
import { performance } from 'node:perf_hooks';

interface OpenTeamWatch extends TeamGaugesOptions {
  close(): void;
}

interface StoreInTime {
  readonly store: Store;
  /** The time of this process that is believed. */
  readonly nowMs: () => number;
}

/** `undefined` if team metrics are off. */
export function openTeamWatch({ teamMetrics }: Config, { store: { teams }, nowMs }: StoreInTime, log: Log): OpenTeamWatch | undefined {
  if (teamMetrics === undefined) return undefined;
  const now = (): number => performance.now();
  const watch = new TeamWatch({ teams, settings: teamMetrics, log, now, wallMs: nowMs });
  return { read: () => watch.latest, now, close: () => watch.close() };
}

/** Checks the plans of all teams, once a call and in the background; a store that is away is reported elsewhere. */
interface PlanCheck {
  /** Logs a warning for each plan that teams have and this configuration lacks. */
  check(plans: Config['plans']): void;
}

export function openPlanCheck(teams: TeamRegistry, log: Log): PlanCheck {
  const look = async (plans: Config['plans']): Promise<void> => {
    const checked = await missingPlans(teams, plans, TEAMS_CHECKED_MAX);
    if (isUnavailable(checked)) return;
    for (const missing of checked.missing)
      log.warn('teams have a plan that the configuration lacks', { ...missing, advice: missingPlanText(missing) });
  };
  return { check: (plans) => void look(plans) };
}

/** `undefined` if events are off. */
export function openEvents(config: Config, { store, nowMs }: StoreInTime, log: Log): EventSender | undefined {
  // Checked with everything else before anything is opened.
  const key = eventsSecret(config, process.env);
  if (config.events === undefined || key === undefined) return undefined;
  const outbox = config.engines.every(({ cap }) => cap === undefined) ? store.outbox : withEngineEvents(store.outbox, store.records);
  const webhook = new Webhook({ url: config.events.url, key, timeoutMs: SEND_MS, nowMs, socketsMax: SENDS_MAX });
  return new EventSender({
    outbox,
    teams: store.teams,
    log,
    now: () => performance.now(),
    send: async (event, signal) =>
      webhook.post({ id: event.id, contentType: CLOUD_EVENT_TYPE, body: JSON.stringify(eventDocument(event)) }, signal),
    onClose: () => webhook.close(),
  });
}
