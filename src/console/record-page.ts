// A record and what may be done to it: its page with a form for each action, the question before
// what cannot be undone or costs more, and what was done. Fields, faults and questions are those of
// the operations that carry the actions out.
import { labelOf } from '../admin/input.ts';
import type { GivenMembers } from '../admin/input.ts';
import type { AdminOperation } from '../admin/operation.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { changedAnswer, CONSOLE_PREFIX, finding, get, getForm, mayChange, pageAnswer, post } from './console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, PageContent, SignedInVisit } from './console-route.ts';
import { EMPTY_FORM, hiddenField, postForm, queryOf } from './form.ts';
import type { FieldFaults, FieldTexts, Form } from './form.ts';
import { askedBy, carriedOut, formFields, sentIn } from './operation-form.ts';
import type { Faulty } from './operation-form.ts';

/** Something that may be done to a record, by an operation. */
export interface Action<Found> {
  readonly one: AdminOperation;
  /** The last part of its address; '' for the address of the record itself. */
  readonly name: string;
  readonly title: string;
  /** The button's text; by default the title. */
  readonly submit?: string;
  readonly danger?: true;
  /** What to know before. */
  readonly about?: (found: Found, visit: SignedInVisit) => Html | string;
  /** What the form asks for: members of the input, unless `inputs` writes the fields. */
  readonly fields?: readonly string[];
  readonly inputs?: (texts: FieldTexts, found: Found, parts: ConsoleParts) => Html;
  /** At first. What is left so is not sent on, unless the form is taken as a whole. */
  readonly texts?: (found: Found, nowMs: number) => Readonly<Record<string, string>>;
  readonly whole?: true;
  /** The input of the operation: what was sent, and what is known besides. */
  readonly given: (found: Found, sent: GivenMembers, form: Form, parts: ConsoleParts) => GivenMembers | Faulty;
  /** Fields that stand for members of other names. */
  readonly fieldOf?: Readonly<Record<string, string>>;
  /** Whether it is offered. */
  readonly when?: (found: Found) => boolean;
  /** What was done; by default in the operation's words. */
  readonly notice?: (value: never, found: Found) => Html | string;
  /** Where to go then, below `/console`; by default to the record. */
  readonly to?: (value: never, found: Found) => string;
  readonly after?: (found: Found, parts: ConsoleParts) => void;
  /** Of what the operation asks on the page of the action's own. */
  readonly asking?: (found: Found) => GivenMembers;
  /** It has a page of its own, with this title. */
  readonly own?: (found: Found) => string;
  /** Where that page is, if not where its form is sent to. */
  readonly ownPath?: string;
  /** What surrounds the form on it. */
  readonly around?: (form: Html, found: Found, visit: SignedInVisit) => Html;
}

interface RecordPage<Found extends object> {
  /** As in the table of routes. */
  readonly path: string;
  /** By the parts of the path; an answer if there is no such record. */
  readonly find: (visit: SignedInVisit, parts: ConsoleParts) => Promise<Found | ConsoleAnswer>;
  /** Its address, below `/console`. */
  readonly at: (found: Found) => string;
  /** What names it besides the path, in queries and forms. */
  readonly named?: (found: Found) => Readonly<Record<string, string>>;
  /** Around the forms. Without one, its actions have pages, and lead back to another. */
  readonly page?: (forms: Html | undefined, found: Found, visit: SignedInVisit, parts: ConsoleParts) => PageContent | Promise<PageContent>;
  readonly back?: (found: Found) => string;
  /** Why nothing can be done to it any more. */
  readonly closed?: (found: Found) => string | undefined;
  /** Which it is, in the words of questions. */
  readonly called?: (found: Found) => Html;
  readonly actions: readonly Action<Found>[];
  /** The operations whose buttons the page has, what is in their path, and the row that they judge by. */
  readonly buttons?: {
    readonly of: readonly AdminOperation[];
    readonly path: (found: Found) => GivenMembers;
    readonly row: (found: Found) => unknown;
  };
}

/** A visit to a record that was found. */
interface At<Found extends object> {
  readonly record: RecordPage<Found>;
  readonly visit: SignedInVisit;
  readonly parts: ConsoleParts;
  readonly found: Found;
}

/** A form that was sent, and is shown again. */
interface Sent<Found> extends Faulty {
  readonly action: Action<Found>;
}

export function recordRoutes<Found extends object>(page: RecordPage<Found>): readonly ConsoleRoute[] {
  const record = { ...page, actions: [...page.actions, ...buttonsOf(page)] };
  const { path, find, actions } = record;
  const at = (handle: (at: At<Found>) => Promise<ConsoleAnswer>) =>
    finding(find, (visit, parts, found) => handle({ record, visit, parts, found }));
  const routes = actions.flatMap((action) => {
    const address = action.name === '' ? path : `${path}/${action.name}`;
    const form = post(
      address,
      at((here) => act(here, action)),
    );
    return action.own === undefined
      ? [form]
      : [
          getForm(
            action.ownPath ?? address,
            at((here) => ownPage(here, action)),
          ),
          form,
        ];
  });
  return record.page === undefined ? routes : [get(path, at(shown)), ...routes];
}

function buttonsOf<Found extends object>({ buttons }: RecordPage<Found>): readonly Action<Found>[] {
  if (buttons === undefined) return [];
  const rowOf = (found: Found) => buttons.row(found) as never;
  return buttons.of.flatMap((one) =>
    (one.buttons ?? []).map(({ about, when, given, ...button }) => ({
      ...button,
      one,
      about: () => about,
      when: (found) => when?.(rowOf(found)) !== false,
      given: (found) => ({ ...buttons.path(found), ...given?.(rowOf(found)) }),
    })),
  );
}

async function shown<Found extends object>(here: At<Found>, sent?: Sent<Found>): Promise<ConsoleAnswer> {
  const { record, found, visit, parts } = here;
  const forms = mayChange(visit) && record.closed?.(found) === undefined ? formsOf(here, sent) : undefined;
  return pageAnswer(await record.page!(forms, found, visit, parts), sent?.faults);
}

function formsOf<Found extends object>(here: At<Found>, sent: Sent<Found> | undefined): Html {
  const { record, found, visit } = here;
  const offered = record.actions.filter((action) => action === sent?.action || action.when?.(found) !== false);
  const sections = offered
    .filter(({ own }) => own === undefined)
    .map((action) => {
      const id = `to-${action.name || 'change'}`;
      return html`<section aria-labelledby="${id}">
        <h2 id="${id}">${action.title}</h2>
        ${said(action.about?.(found, visit))} ${formOf(here, action, sent?.action === action ? sent.faults : undefined)}
      </section>`;
    });
  const links = offered
    .filter(({ own }) => own !== undefined)
    .map((action) => html`<a href="${CONSOLE_PREFIX}${addressOf(here, action)}">${action.title}</a> `);
  return html`<div class="forms">${sections}</div>
    ${links.length === 0 ? undefined : html`<p class="links">${links}</p>`}`;
}

function said(words: Html | string | undefined): Html | undefined {
  return typeof words === 'string' ? html`<p>${words}</p>` : words;
}

/** `faults` are those of the form that was sent, which shows what was sent. */
function formOf<Found extends object>(here: At<Found>, action: Action<Found>, faults?: FieldFaults): Html {
  const { one, fields = [], inputs, title, submit = title, danger = false, own } = action;
  const { found, visit, parts } = here;
  const shows = { form: faults === undefined ? shownBefore(here, action) : visit.form, faults: faults ?? {} };
  const others = Object.entries(shows.faults).filter(([field]) => !fields.includes(field));
  return postForm({
    action: addressOf(here, action),
    formToken: visit.formToken,
    fields: html`${hiddenIn(here)} ${others.map(([, fault]) => html`<p class="fault" role="alert">${fault}</p>`)}
    ${inputs === undefined ? formFields(one, fields, shows) : inputs(shows, found, parts)}`,
    submit,
    danger,
    ...(own === undefined ? {} : { cancel: home(here) }),
  });
}

/** What the fields hold before anything is sent. */
function shownBefore<Found extends object>({ found, visit }: At<Found>, { texts }: Action<Found>): Form {
  const shows = texts?.(found, visit.nowMs) ?? {};
  return (name) => shows[name] ?? '';
}

function hiddenIn<Found extends object>({ record: { named }, found }: At<Found>): readonly Html[] {
  return Object.entries(named?.(found) ?? {}).map(([name, value]) => hiddenField(name, value));
}

function addressOf<Found extends object>({ record, found }: At<Found>, { name }: Action<Found>): string {
  return name === '' ? record.at(found) : `${record.at(found)}/${name}`;
}

/** Where the record is shown, or what it belongs to. */
function home<Found extends object>({ record: { at, back = at, named }, found }: At<Found>): string {
  return back(found) + queryOf(named?.(found) ?? {});
}

/** An answer instead of any action. */
function closedAnswer<Found extends object>(here: At<Found>): ConsoleAnswer | undefined {
  const why = here.record.closed?.(here.found);
  return why === undefined ? undefined : { kind: 'see', to: home(here), notice: html`<p>${why}</p>` };
}

async function ownPage<Found extends object>(here: At<Found>, action: Action<Found>, faults?: FieldFaults): Promise<ConsoleAnswer> {
  const { visit, parts, found } = here;
  const closed = closedAnswer(here);
  if (closed !== undefined) return closed;
  const { one, asking, about, around = (form: Html) => form } = action;
  const title = action.own!(found);
  const question = asking && (await askedBy(one, asking(found), visit, parts));
  const does = question !== undefined && 'does' in question ? html`<p class="warning">${question.does}</p>` : undefined;
  const main = html`<h1>${title}</h1>
    ${does} ${said(about?.(found, visit))} ${around(formOf(here, action, faults), found, visit)}`;
  return pageAnswer({ title, section: 'teams', main, assets: ['copy.js'] }, faults);
}

/** Stands for the question to which someone says yes: only what it showed is carried out. */
const AGREED = 'agreed';

async function act<Found extends object>(here: At<Found>, action: Action<Found>): Promise<ConsoleAnswer> {
  const { visit, parts, found } = here;
  const closed = closedAnswer(here);
  if (closed !== undefined) return closed;
  const { one, fields = [], fieldOf = {} } = action;
  const before = action.whole === true ? EMPTY_FORM : shownBefore(here, action);
  const given = action.given(found, sentIn(one, fields, visit.form, before, visit.nowMs), visit.form, parts);
  const attempt = visit.form(AGREED) === '' ? {} : { agreed: visit.form(AGREED) };
  const made = isFaulty(given) ? given : await carriedOut(one, given, visit, parts, attempt);
  if ('value' in made) {
    action.after?.(found, parts);
    const notice = said(action.notice?.(made.value as never, found) ?? one.notice!(made.value, given as GivenMembers))!;
    return changedAnswer(action.to?.(made.value as never, found) ?? home(here), notice, made);
  }
  if (made.faults['confirm'] !== undefined) return confirmation(here, action, given as GivenMembers);
  const faults = Object.fromEntries(Object.entries(made.faults).map(([name, fault]) => [fieldOf[name] ?? name, fault]));
  return action.own === undefined ? shown(here, { action, faults }) : ownPage(here, action, faults);
}

function isFaulty(given: GivenMembers | Faulty): given is Faulty {
  return 'faults' in given;
}

/** What the operation asks before it carries out what was sent. */
async function confirmation<Found extends object>(here: At<Found>, action: Action<Found>, given: GivenMembers): Promise<ConsoleAnswer> {
  const { visit, parts, record, found } = here;
  const { one, title, submit = title, fields = [] } = action;
  const question = await askedBy(one, given, visit, parts);
  // It has just become harmless, or impossible: the record shows how it stands.
  if (question === undefined || 'faults' in question) return { kind: 'see', to: home(here) };
  const { does, refuses = false, mark = '' } = question;
  const main = html`<h1>${title}?</h1>
    ${record.called && html`<p>${record.called(found)}</p>`}
    <p>${fields.map((name) => html`${labelOf(name, {})}: ${visit.form(name)}<br />`)}</p>
    <p class="warning">${does}</p>
    ${postForm({
      action: addressOf(here, action),
      formToken: visit.formToken,
      fields: html`${hiddenIn(here)}${[...fields.map((name) => hiddenField(name, visit.form(name))), hiddenField(AGREED, mark)]}`,
      submit,
      danger: refuses,
      cancel: home(here),
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}
