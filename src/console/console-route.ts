// The types of a console page: its row in the table of routes, its handler's input and answer, and
// the audit line of a change.
import type { OperationContext } from '../admin/operation-context.ts';
import { replicatedWarning } from '../admin/operation.ts';
import type { Done } from '../admin/operation.ts';
import { actorOf } from '../admin/operators.ts';
import type { Operators, RecentFailures } from '../admin/operators.ts';
import type { SignInAudit } from '../admin/audit-entries.ts';
import type { Download } from '../admin/csv.ts';
import type { HeaderList, Refusal } from '../core/outcome.ts';
import type { OidcSettings } from '../domain/operator.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { OpsRequest } from '../ops/ops-listener.ts';
import type { Log } from '../ports/log.ts';
import type { AssetName } from './assets.ts';
import type { Section } from './layout.ts';
import type { OidcAttempts } from './oidc-attempts.ts';
import type { OidcProvider } from './oidc-provider.ts';
import type { Overview } from './overview-figures.ts';
import type { PlanApplications } from './plan-applications.ts';
import type { FieldFaults, Form } from './form.ts';
import type { Session, Sessions } from './sessions.ts';

/** What the pages work on. */
export interface ConsoleParts {
  /** Of a session, in its operator's name. */
  readonly context: OperationContext;
  /** Shared with the admin API: wrong tokens from an address count together. */
  readonly wrongTokens: RecentFailures;
  readonly operators: Operators;
  /** `undefined` if only tokens are configured. */
  readonly oidc: ConsoleOidc | undefined;
  readonly signIns: SignInAudit;
  readonly sessions: Sessions;
  readonly applications: PlanApplications;
  /** Drops the answers to forms of a team, because it was deleted. */
  readonly forget: (teamId: string) => void;
  readonly overview: () => Promise<Overview>;
  readonly serviceName: () => string;
  /** The name of this gateway among several. */
  readonly gateway: string;
  readonly log: Log;
}

/** The sign-in at an OpenID provider. */
export interface ConsoleOidc {
  readonly provider: OidcProvider;
  readonly attempts: OidcAttempts;
  readonly settings: () => OidcSettings;
  readonly failures: {
    /** Without an attempt of the browser: they cost nothing, and keep nobody else out. */
    readonly ofStrangers: RecentFailures;
    readonly ofAttempts: RecentFailures;
  };
}

/** One request for a page, signed in or not, and what the page works on. */
export interface Visit extends ConsoleParts {
  readonly request: OpsRequest;
  readonly requestId: string;
  /** Of the path, by their names in the route; only letters, digits, `_` and `-`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Empty unless the method is POST; its anti-forgery token has been checked. */
  readonly form: Form;
  readonly formToken: string;
  readonly session: Session | undefined;
  readonly nowMs: number;
}

export interface SignedInVisit extends Visit {
  readonly session: Session;
}

export interface PageContent {
  readonly title: string;
  readonly main: Html;
  /** The section marked in the navigation. */
  readonly section?: Section;
  /** Scripts of ours, and styles besides the console's own. */
  readonly assets?: readonly AssetName[];
  /** What the browser opens at once; for nobody who is signed in, without navigation. */
  readonly leadsTo?: string;
}

export type ConsoleAnswer =
  | {
      readonly kind: 'page';
      readonly content: PageContent;
      readonly status?: number;
      readonly headers?: HeaderList;
      readonly cookies?: readonly string[];
    }
  /** 303: the browser requests `to` next, another site or below `/console`. A notice is shown there once. */
  | { readonly kind: 'see'; readonly to: string; readonly notice?: Html; readonly cookies?: readonly string[] }
  /** With `keeps`, one that is the same for everyone, at a path that changes when it does. */
  | { readonly kind: 'file'; readonly contentType: string; readonly body: string; readonly keeps?: true }
  /** Rows of usage, sent as they are read. */
  | Download
  | Refusal;

type Answered = ConsoleAnswer | Promise<ConsoleAnswer>;
type Handler<V> = (visit: V) => Answered;

interface ConsoleAddress {
  readonly method: 'GET' | 'POST';
  /** Below `/console`; `{name}` stands for one segment. */
  readonly path: string;
}

export type ConsoleRoute =
  | (ConsoleAddress & { readonly access: 'everybody'; readonly handle: Handler<Visit> })
  | (ConsoleAddress & {
      readonly access: 'signed-in';
      /** Only for operators who may make changes. */
      readonly changes: boolean;
      readonly handle: Handler<SignedInVisit>;
    });

function signedIn(method: ConsoleAddress['method'], changes: boolean) {
  return (path: string, handle: Handler<SignedInVisit>): ConsoleRoute => ({ method, path, access: 'signed-in', changes, handle });
}

export const get = signedIn('GET', false);
/** A page that is only the form of a change, or the question before one. */
export const getForm = signedIn('GET', true);
/** Sent again with the same `once`, it gets the first answer. */
export const post = signedIn('POST', true);
/** For forms that change nothing in the store. */
export const postOwn = signedIn('POST', false);

/** Whether the visitor may see links and forms for changes. */
export function mayChange({ session }: SignedInVisit): boolean {
  return session.operator.role === 'manage';
}

export function open(method: 'GET' | 'POST', path: string, handle: Handler<Visit>): ConsoleRoute {
  return { method, path, access: 'everybody', handle };
}

/** A handler for the record of the path, which `find` finds or answers for. */
export function finding<Found extends object>(
  find: (visit: SignedInVisit) => Promise<Found | ConsoleAnswer>,
  handle: (visit: SignedInVisit, found: Found) => Answered,
): Handler<SignedInVisit> {
  return async (visit) => {
    const found = await find(visit);
    return 'kind' in found ? found : handle(visit, found);
  };
}

/** With `faults`, those of the form that was sent and is shown again. */
export function pageAnswer(content: PageContent, faults: FieldFaults = {}): ConsoleAnswer {
  return { kind: 'page', content, status: Object.keys(faults).length === 0 ? 200 : 400 };
}

/** After a change: a page with a notice, and with its warnings. */
export function changedAnswer(to: string, notice: Html, made: Pick<Done<unknown>, 'replicated' | 'warnings'>): ConsoleAnswer {
  const warnings = [...(made.warnings ?? []), replicatedWarning(made)].filter((warning) => warning !== undefined);
  return { kind: 'see', to, notice: html`${notice} ${warnings.map((warning) => html`<p class="warning">${warning}</p>`)}` };
}

export const CONSOLE_PREFIX = '/console';

/** `changed` is without secrets. */
export function audit(
  { log, request, requestId, session }: SignedInVisit,
  action: string,
  changed: Readonly<Record<string, string | number>>,
): void {
  const actor = actorOf('console', session.operator, request.remoteAddress);
  log.info('audit', { action, ...changed, actor, request_id: requestId });
}
