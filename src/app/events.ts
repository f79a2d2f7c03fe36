// Starts the sender of events where the configuration asks for it: once in a gateway, whatever its number of workers.
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { Config } from '../config/config.ts';
import { eventsSecret } from '../config/secrets.ts';
import type { Log } from '../ports/log.ts';
import type { Outbox } from '../ports/outbox.ts';
import { EventSender, SEND_MS, SENDS_MAX } from '../runtime/event-sender.ts';
import { Webhook } from '../runtime/webhook.ts';
import { CLOUD_EVENT_TYPE, eventDocument } from './event-document.ts';

/** `undefined` where no events are told. */
export function openEvents(config: Config, { outbox }: { readonly outbox?: Outbox | undefined }, log: Log): EventSender | undefined {
  // Judged with all else before anything was opened.
  const key = eventsSecret(config, process.env);
  if (config.events === undefined || key === undefined) return undefined;
  if (outbox === undefined) {
    log.warn('this store keeps no events: none are sent');
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
