// Starts the sender of events if it is configured: once in a gateway, however many workers it has.
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { Config } from '../config/config.ts';
import { eventsSecret } from '../config/secrets.ts';
import type { Log } from '../ports/log.ts';
import type { Outbox } from '../ports/outbox.ts';
import { EventSender, SEND_MS, SENDS_MAX } from '../runtime/event-sender.ts';
import { Webhook } from '../runtime/webhook.ts';
import { CLOUD_EVENT_TYPE, eventDocument } from './event-document.ts';

/** `undefined` if events are off. */
export function openEvents(config: Config, { outbox }: { readonly outbox?: Outbox | undefined }, log: Log): EventSender | undefined {
  // Checked with everything else before anything is opened.
  const key = eventsSecret(config, process.env);
  if (config.events === undefined || key === undefined) return undefined;
  if (outbox === undefined) {
    log.warn('this store, from a plugin, keeps no events: none are sent');
    return undefined;
  }
  const webhook = new Webhook({ url: config.events.url, key, timeoutMs: SEND_MS, nowMs: () => Date.now(), socketsMax: SENDS_MAX });
  return new EventSender({
    outbox,
    log,
    now: () => performance.now(),
    send: async (event, signal) =>
      webhook.post({ id: event.id, contentType: CLOUD_EVENT_TYPE, body: JSON.stringify(eventDocument(event)) }, signal),
    onClose: () => webhook.close(),
  });
}
