// The state of gateway, store and engine: in words, with a colour that says the same.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { AttemptFailure, ReplicaHealth } from '../ports/engine.ts';
import type { Overview } from './overview-figures.ts';
import { count, duration, span } from './shown.ts';
import { htmlTable } from './html-table.ts';

type Mood = 'good' | 'warn' | 'bad' | 'idle';

interface State {
  readonly mood: Mood;
  readonly words: string;
}

/** A replica is good again when its latest attempt was usable and its latest failure is older than this. */
const RECENT_MS = 60_000;

const FAILURES: Readonly<Record<AttemptFailure, string>> = {
  connect: 'no connection',
  reset: 'connection broke',
  timeout: 'too slow',
  status: 'error status',
  too_large: 'answer too large',
  not_json: 'answer is not JSON',
  wrong_shape: 'answer of a wrong form',
  foreign_id: 'answer to another request',
  unasked: 'sent what nobody had asked for',
  cut_off: 'answer cut at its token limit',
  unsupported_pair: 'cannot do the languages',
  busy: 'no connection was free',
  engine_quota: 'its quota is used up',
  cancelled: 'called off',
  internal: 'a bug in the adapter',
};

/** Gateway, store and engine, a line each. */
export function stateList(overview: Overview): Html {
  const { processes, startedAtMs, nowMs, version, store, engine } = overview;
  const failing = engine.replicas.filter((replica) => stateOf(replica).mood === 'bad').length;
  const workers = processes.expected > 1 ? `${processes.answering} of ${processes.expected} workers answer · ` : '';
  return html`<ul class="states">
    ${line('Gateway', gatewayState(overview), `${workers}up ${span(nowMs - startedAtMs)} · version ${version}`)}
    ${line('Store', storeState(store), `${store.url}${store.openSettlements === 0 ? '' : ` · ${count(store.openSettlements)} settlements open`}`)}
    ${line('Engine', engineState(engine.replicas), `${engine.protocol} · ${howMany(engine.replicas.length, failing)}`)}
  </ul>`;
}

export function engineTable(replicas: readonly ReplicaHealth[]): Html {
  const columns = [
    { label: 'Replica' },
    { label: 'State' },
    { label: 'Last failure' },
    { label: 'Usable', figures: true },
    { label: 'Failed', figures: true },
  ];
  const rows = replicas.map((replica) => {
    const { url, usable, failed, lastFailure } = replica;
    const last = lastFailure === undefined ? '–' : `${FAILURES[lastFailure.failure]}, ${span(lastFailure.agoMs)} ago`;
    return [html`<code>${url}</code>`, shown(stateOf(replica)), last, count(usable), count(failed)];
  });
  return htmlTable({ caption: "The engine's replicas, attempts since each process started", columns, rows });
}

function howMany(all: number, failing: number): string {
  const number = all === 1 ? 'one replica' : `${count(all)} replicas`;
  return failing === 0 || all === 1 ? number : `${number}, ${count(failing)} of them failing`;
}

function line(name: string, state: State, more: string): Html {
  return html`<li><b>${name}</b> ${shown(state)} <span class="soft">${more}</span></li>`;
}

function shown({ mood, words }: State): Html {
  return html`<span class="state ${mood}">${words}</span>`;
}

function gatewayState({ processes, draining }: Overview): State {
  if (processes.answering === 0) return { mood: 'bad', words: 'no worker answers' };
  if (draining) return { mood: 'warn', words: 'draining' };
  return processes.answering < processes.expected ? { mood: 'warn', words: 'short of workers' } : { mood: 'good', words: 'serving' };
}

function storeState({ answers, fault, tookMs }: Overview['store']): State {
  if (!answers) return { mood: 'bad', words: 'does not answer' };
  if (fault !== undefined) return { mood: 'bad', words: `takes no writes (${fault})` };
  return { mood: 'good', words: tookMs === undefined ? 'answers' : `answers in ${duration(tookMs)}` };
}

/** `bad` only when no replica works: a second attempt goes to another one. */
function engineState(replicas: readonly ReplicaHealth[]): State {
  const moods = replicas.map((replica) => stateOf(replica).mood);
  if (moods.every((mood) => mood === 'idle')) return { mood: 'idle', words: 'not asked yet' };
  if (!moods.some((mood) => mood === 'good' || mood === 'warn')) return { mood: 'bad', words: 'fails' };
  return moods.every((mood) => mood === 'good' || mood === 'idle')
    ? { mood: 'good', words: 'answers' }
    : { mood: 'warn', words: 'answers, not always' };
}

/** By what came last, a usable attempt or one that failed, where it is not set aside. */
function stateOf({ usableAgoMs, lastFailure, asideMs }: ReplicaHealth): State {
  if (asideMs !== undefined)
    return { mood: 'bad', words: asideMs === 0 ? 'set aside, tried by the next request' : `set aside for ${span(asideMs + 999)}` };
  if (lastFailure === undefined)
    return usableAgoMs === undefined ? { mood: 'idle', words: 'not asked yet' } : { mood: 'good', words: 'answers' };
  if (usableAgoMs === undefined || usableAgoMs > lastFailure.agoMs) return { mood: 'bad', words: 'fails' };
  return lastFailure.agoMs < RECENT_MS ? { mood: 'warn', words: 'answers, not always' } : { mood: 'good', words: 'answers' };
}
