// A record and what may be done to it: its page with a form for each action, the question before
// what cannot be undone or costs more, and what was done. Fields, faults and questions are those of
// the operations that carry the actions out.
import { labelOf } from '../admin/input.ts';
import type { GivenMembers } from '../admin/input.ts';
import type { AdminOperation } from '../admin/operation.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { changedAnswer, CONSOLE_PREFIX, finding, get, getForm, mayChange, pageAnswer, post } from './console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, PageContent, SignedInVisit } from './console-route.ts';
import { EMPTY_FORM, fieldOf, hiddenField, postForm, queryOf } from './form.ts';
import type { Field, FieldFaults, FieldTexts, Form } from './form.ts';
import { askedBy, carriedOut, memberField, sentIn } from './operation-form.ts';
import type { Faulty } from './operation-form.ts';

/** A member of the operation's input by its name, or a field that stands for the member `of`. */
type ActionField = string | (Field & { readonly of?: string });

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
  readonly about?: string | ((found: Found, visit: SignedInVisit) => Html | string);
  readonly fields?: readonly ActionField[] | ((found: Found, visit: SignedInVisit) => readonly ActionField[]);
  /** Names of those that are shown when they are opened, or hold something. */
  readonly folded?: readonly string[];
  /** At first. What is left so is not sent on, unless the form is taken as a whole. */
  readonly texts?: (found: Found, nowMs: number) => Readonly<Record<string, string>>;
  readonly whole?: true;
  /** The input besides the record's ids; by default what was sent. */
  readonly given?: (found: Found, sent: GivenMembers, form: Form, visit: SignedInVisit) => GivenMembers | Faulty;
  /** Whether it is offered. */
  readonly when?: (found: Found) => boolean;
  /** What was done; by default in the operation's words. */
  readonly notice?: (value: never, found: Found) => Html | string;
  /** Where to go then, below `/console`; by default to the record. */
  readonly to?: (value: never, found: Found) => string;
  readonly after?: (found: Found, visit: SignedInVisit) => void;
  /** The title of its own page, which says what the operation asks before. */
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
  readonly find: (visit: SignedInVisit) => Promise<Found | ConsoleAnswer>;
  /** Its address, below `/console`. */
  readonly at: (found: Found) => string;
  /** What its operations have in their paths. */
  readonly ids: (found: Found) => GivenMembers;
  /** What names it besides the path, in queries and forms. */
  readonly named?: (found: Found) => Readonly<Record<string, string>>;
  /** Around the forms. Without one, its actions have pages, and lead back to another. */
  readonly page?: (forms: Html | undefined, found: Found, visit: SignedInVisit) => PageContent | Promise<PageContent>;
  readonly back?: (found: Found) => string;
  /** Why nothing can be done to it any more. */
  readonly closed?: (found: Found) => string | undefined;
  /** Which it is, in the words of questions. */
  readonly called?: (found: Found) => Html;
  readonly actions: readonly Action<Found>[];
  /** The operations whose buttons the page has, and the row that they judge by. */
  readonly buttons?: { readonly of: readonly AdminOperation[]; readonly row: (found: Found) => unknown };
}

/** A visit to a record that was found. */
interface At<Found extends object> {
  readonly record: RecordPage<Found>;
  readonly visit: SignedInVisit;
  readonly found: Found;
}

/** A form that was sent, and is shown again. */
interface Sent<Found> extends Faulty {
  readonly action: Action<Found>;
}

export function recordRoutes<Found extends object>(given: RecordPage<Found>): readonly ConsoleRoute[] {
  const record = { ...given, actions: [...given.actions, ...buttonsOf(given)] };
  const { path, find, actions } = record;
  const routes = actions.flatMap((action) => {
    const address = action.name === '' ? path : `${path}/${action.name}`;
    const unlessClosed = (handle: (here: At<Found>, action: Action<Found>) => Promise<ConsoleAnswer>) =>
      finding(find, (visit, found) => closedAnswer({ record, visit, found }) ?? handle({ record, visit, found }, action));
    const sent = post(address, unlessClosed(act));
    return action.own === undefined ? [sent] : [getForm(action.ownPath ?? address, unlessClosed(ownPage)), sent];
  });
  const page = finding(find, (visit, found) => shown({ record, visit, found }));
  return record.page === undefined ? routes : [get(path, page), ...routes];
}

function buttonsOf<Found extends object>({ buttons }: RecordPage<Found>): readonly Action<Found>[] {
  if (buttons === undefined) return [];
  const rowOf = (found: Found) => buttons.row(found) as never;
  return buttons.of.flatMap((one) =>
    (one.buttons ?? []).map(({ when, given, ...button }) => ({
      ...button,
      one,
      when: (found) => when?.(rowOf(found)) !== false,
      given: (found) => given?.(rowOf(found)) ?? {},
    })),
  );
}

async function shown<Found extends object>(here: At<Found>, sent?: Sent<Found>): Promise<ConsoleAnswer> {
  const { record, found, visit } = here;
  const forms = mayChange(visit) && record.closed?.(found) === undefined ? formsOf(here, sent) : undefined;
  return pageAnswer(await record.page!(forms, found, visit), sent?.faults);
}

function formsOf<Found extends object>(here: At<Found>, sent: Sent<Found> | undefined): Html {
  const { record, found } = here;
  const offered = record.actions.filter((action) => action === sent?.action || action.when?.(found) !== false);
  const sections = offered
    .filter(({ own }) => own === undefined)
    .map((action) => {
      const id = `to-${action.name || 'change'}`;
      return html`<section aria-labelledby="${id}">
        <h2 id="${id}">${action.title}</h2>
        ${aboutOf(here, action)} ${formOf(here, action, sent?.action === action ? sent.faults : undefined)}
      </section>`;
    });
  const links = offered
    .filter(({ own }) => own !== undefined)
    .map(
      (action) =>
        html`<a class="button ${action.danger && 'danger'}" href="${CONSOLE_PREFIX}${addressOf(here, action)}">${action.title}</a> `,
    );
  return html`<div class="forms">${sections}</div>
    ${links.length === 0 ? undefined : html`<p class="links">${links}</p>`}`;
}

function aboutOf<Found extends object>({ found, visit }: At<Found>, { about }: Action<Found>): Html | undefined {
  return said(typeof about === 'function' ? about(found, visit) : about);
}

function said(words: Html | string | undefined): Html | undefined {
  return typeof words === 'string' ? html`<p>${words}</p>` : words;
}

function fieldsIn<Found extends object>({ found, visit }: At<Found>, { one, fields = [] }: Action<Found>) {
  const all = typeof fields === 'function' ? fields(found, visit) : fields;
  return all.map((field): Exclude<ActionField, string> => (typeof field === 'string' ? memberField(one, field) : field));
}

/** `faults` are those of the form that was sent, which shows what was sent. */
function formOf<Found extends object>(here: At<Found>, action: Action<Found>, faults?: FieldFaults): Html {
  const { title, submit = title, danger = false, own, folded = [] } = action;
  const { visit } = here;
  const fields = fieldsIn(here, action);
  const shows = { form: faults === undefined ? shownBefore(here, action) : visit.form, faults: faults ?? {} };
  const others = Object.entries(shows.faults).filter(([name]) => !fields.some((field) => field.name === name));
  const below = fields.filter(({ name }) => folded.includes(name));
  return postForm({
    action: addressOf(here, action),
    formToken: visit.formToken,
    fields: html`${hiddenIn(here)} ${others.map(([, fault]) => html`<p class="fault" role="alert">${fault}</p>`)}
    ${fields.filter(({ name }) => !folded.includes(name)).map((field) => fieldOf(field, shows))} ${foldedFields(below, shows)}`,
    submit,
    danger,
    ...(own === undefined ? {} : { cancel: home(here) }),
  });
}

function foldedFields(fields: readonly Field[], shows: FieldTexts): Html | undefined {
  if (fields.length === 0) return undefined;
  const isOpen = fields.some(({ name }) => shows.form(name) !== '' || shows.faults[name] !== undefined);
  return html`<details ${isOpen ? html` open` : undefined}>
    <summary>Limits</summary>
    ${fields.map((field) => fieldOf(field, shows))}
  </details>`;
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
  const { visit, found, record } = here;
  const { one, around = (form: Html) => form } = action;
  const title = action.own!(found);
  const question = one.asks && (await askedBy(one, record.ids(found), visit));
  const does = question !== undefined && 'does' in question ? html`<p class="warning">${question.does}</p>` : undefined;
  const main = html`<h1>${title}</h1>
    ${does} ${aboutOf(here, action)} ${around(formOf(here, action, faults), found, visit)}`;
  return pageAnswer({ title, section: 'teams', main, assets: ['copy.js'] }, faults);
}

/** Stands for the question to which someone says yes: only what it showed is carried out. */
const AGREED = 'agreed';

async function act<Found extends object>(here: At<Found>, action: Action<Found>): Promise<ConsoleAnswer> {
  const { visit, found, record } = here;
  const { one } = action;
  const fields = fieldsIn(here, action);
  const before = action.whole === true ? EMPTY_FORM : shownBefore(here, action);
  const names = fields.map(({ name }) => name);
  const sent = sentIn(one, names, visit.form, before, visit.nowMs);
  const asked = action.given === undefined ? sent : action.given(found, sent, visit.form, visit);
  const given = { ...record.ids(found), ...asked };
  const attempt = visit.form(AGREED) === '' ? {} : { agreed: visit.form(AGREED) };
  const made = isFaulty(asked) ? asked : await carriedOut(one, given, visit, attempt);
  if ('value' in made) {
    action.after?.(found, visit);
    const notice = said(action.notice?.(made.value as never, found) ?? one.notice!(made.value, given))!;
    return changedAnswer(action.to?.(made.value as never, found) ?? home(here), notice, made);
  }
  if (made.faults['confirm'] !== undefined) return confirmation(here, action, names, given);
  const fieldFor = (member: string): string => fields.find(({ of }) => of === member)?.name ?? member;
  const faults = Object.fromEntries(Object.entries(made.faults).map(([member, fault]) => [fieldFor(member), fault]));
  return action.own === undefined ? shown(here, { action, faults }) : ownPage(here, action, faults);
}

function isFaulty(given: GivenMembers | Faulty): given is Faulty {
  return 'faults' in given;
}

/** What the operation asks before it carries out what was sent. */
async function confirmation<Found extends object>(
  here: At<Found>,
  action: Action<Found>,
  names: readonly string[],
  given: GivenMembers,
): Promise<ConsoleAnswer> {
  const { visit, record, found } = here;
  const { one, title, submit = title } = action;
  const question = await askedBy(one, given, visit);
  // It has just become harmless, or impossible: the record shows how it stands.
  if (question === undefined || 'faults' in question) return { kind: 'see', to: home(here) };
  const { does, refuses = false, mark = '' } = question;
  const main = html`<h1>${title}?</h1>
    ${record.called && html`<p>${record.called(found)}</p>`}
    <p>${names.map((name) => html`${labelOf(name, {})}: ${visit.form(name)}<br />`)}</p>
    <p class="warning">${does}</p>
    ${postForm({
      action: addressOf(here, action),
      formToken: visit.formToken,
      fields: html`${hiddenIn(here)}${[...names.map((name) => hiddenField(name, visit.form(name))), hiddenField(AGREED, mark)]}`,
      submit,
      danger: refuses,
      cancel: home(here),
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}
