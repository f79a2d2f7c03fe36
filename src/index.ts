// The interface for plugin authors: the types of the chain and the ports, and `definePlugin`.
import type { TSchema } from 'typebox';
import type { PluginDefinition } from './ports/plugin.ts';

/**
 * Declares a plugin; the module's default export, named under `plugins:` in the configuration.
 *
 * @example
 * export default definePlugin({
 *   name: 'maintenance',
 *   options: Type.Object({ closed: Type.Boolean() }),
 *   problems: { maintenance: { status: 503, title: 'Closed for maintenance', retry: true } },
 *   setup: ({ closed }, host) => ({
 *     steps: [{ after: 'identify', step: { kind: 'head', name: 'maintenance', run: () => (closed ? host.refuse('maintenance', 'Closed.') : undefined) } }],
 *   }),
 * });
 */
export function definePlugin<Options extends TSchema, Codes extends string = never>(
  plugin: PluginDefinition<Options, Codes>,
): PluginDefinition<Options, Codes> {
  return plugin;
}

export { json, JSON_TYPE, NO_HEADERS } from './core/outcome.ts';
export type { HeaderList, Outcome, Refusal, Reply } from './core/outcome.ts';
export { IF_NONE_MATCH, unlessKnown, validated } from './core/outcome.ts';
export type { ValidatedReply } from './core/outcome.ts';
export { nextTurn, pacedReply } from './core/turns.ts';
export { problems, problemsTo, refuse } from './core/problem.ts';
export type { Problem, ProblemCode, ProblemDocument, ProblemForm } from './core/problem.ts';
export type { Body, Cancellation, Exchange, RequestHead, Slot } from './core/exchange.ts';
export { LONG_BODY_BYTES } from './core/exchange.ts';
export type { Lenience } from './core/route.ts';
export type { Scope } from './domain/scopes.ts';
export type { BodyStep, CallerStep, HeadStep, Step } from './core/pipeline.ts';
export type { StepPlacement } from './core/route.ts';
export type * from './ports/document-services.ts';
export type { DocumentState } from './ports/documents.ts';
export type * from './ports/gateway-services.ts';
export type * from './ports/plugin-route.ts';
export type * from './ports/plugin.ts';
export type { PluginLedger as Ledger, WholePluginStore as Store } from './ports/plugin.ts';
export { keyOwnerSlot, requestStatsSlot, translateRequestSlot } from './domain/slots.ts';
export { chargedCharacters, chargeSlot, refusedCharge, spareCharacters } from './domain/slots.ts';
export type { Charge, GlossaryReference } from './domain/slots.ts';
export type { TranslateRequest } from './domain/translate-request.ts';
export type { ChangedTexts, KnownTexts, TextAnswer, TextChange, TextWork } from './domain/text-stages.ts';
export { wantsOf, wantsOfStyle } from './domain/translation-options.ts';
export type { EngineGlossary, StyleRules, StyleWant, TextFormat, TranslationOptions, Want } from './domain/translation-options.ts';
export type { KeyOwner } from './domain/api-key.ts';
export { secret } from './domain/option-schema.ts';
export { unknownAmong } from './domain/json-body.ts';
export type {
  Attempt,
  AttemptFailure,
  EngineCall,
  EngineCapabilities,
  EngineProtocol,
  EngineResponse,
  EngineTokens,
  EngineWire,
  EngineWork,
  JudgeResponse,
  Translation,
} from './ports/engine.ts';
export { countCharacters } from './domain/characters.ts';
export { periodBy, sameLength } from './domain/period.ts';
export { keySubject, tagOfSubject, tagSubject, windowAt, windowLimits } from './domain/window-limits.ts';
export type { Counted, WindowLimit, WindowName, WindowNumber, WindowSubject, WindowTickets } from './domain/window-limits.ts';
export { firstCounts } from './ledger/account-rows.ts';
export type { AccountCounts, AccountRows, KeyCharge } from './ledger/account-rows.ts';
export { Account } from './ledger/account.ts';
export type { HeldReservation } from './ledger/open-reservations.ts';
export { Slots, slotsOf } from './ledger/rate.ts';
export { WindowCounts } from './ledger/counter.ts';
export type { ExceededWindow } from './ledger/counter.ts';
export type { CountedWindow, StoredCounts, WindowUse } from './domain/window-limits.ts';
export type { Credential, CredentialReader } from './domain/api-key.ts';
export {
  endingOf,
  FORM_BODY_HEADERS,
  isFormType,
  isMultipartType,
  readFormBody,
  readMultipartBody,
  readQuery,
} from './domain/form-body.ts';
export type { FormBody } from './domain/form-body.ts';
export { parseJson } from './domain/json-body.ts';
export type { JsonBounds } from './domain/json-body.ts';
export { JSON_BODY_HEADERS, readJsonBody } from './domain/json-body.ts';
export type { JsonBody, TooManyValues } from './domain/json-body.ts';
export { baseCode, dictionaryFor } from './domain/glossary.ts';
export type { LanguagePair } from './domain/glossary.ts';
export { eachEntry, isLarge, readPiece, writeEntries } from './domain/entries-text.ts';
export type { EntryPieces, WrittenEntries } from './domain/entries-text.ts';
export { Languages } from './domain/languages.ts';
export type { LanguageTable, PairTest, SourceLanguage, TargetLanguage } from './domain/languages.ts';
export {
  GLOSSARY_MISMATCH,
  glossaryRefusal,
  KEY_MALFORMED,
  KEY_MISPLACED,
  KEY_MISSING,
  NO_SUCH_GLOSSARY,
  pairNotOffered,
  SOURCE_LANG_NEEDED,
  STORE_UNAVAILABLE,
  targetsOffered,
  TRANSLATION_PROBLEMS,
  UNKNOWN_KEY,
} from './domain/refusals.ts';
export { tagSlot } from './domain/slots.ts';
export { nameFault } from './domain/record-name.ts';
export { FURTHER_TAGS, readTag, TAG_FAULT } from './domain/request-tag.ts';
export type { NamedTag, RequestTag, TagCount } from './domain/request-tag.ts';
export { answered, isUnavailable, NoStoreError, StoreError } from './domain/store-unavailable.ts';
export type { StoreUnavailable } from './domain/store-unavailable.ts';
export { keyOfOptions, sameOptions, NOTHING_CHOSEN } from './domain/translation-options.ts';
export { canonicalUlid } from './domain/ulid.ts';
export { dateOf, readDayRange } from './domain/usage-days.ts';
export { usageReport } from './domain/usage-days.ts';
export type { UsageReport } from './domain/usage-days.ts';
export type * from './ports/glossary-store.ts';
export { auditEntry, idBefore, momentOf, teamDifference, withoutNames } from './domain/audit-entry.ts';
export type { AuditDifference, Audited, AuditedChange, AuditEntry, AuditRecord } from './domain/audit-entry.ts';
export type { AuditLog, AuditPage } from './ports/audit-log.ts';
export { HISTORY_DAYS } from './domain/period.ts';
export { pruneTags } from './stores/records/record-tags.ts';
export { readPairs } from './stores/records/record-glossaries.ts';
export { keysIn, rowHistory } from './stores/records/usage-rows.ts';
export type { Charges, UsageRows, UsageSource } from './stores/records/usage-rows.ts';
export { countTag, readTagSettings, TagUses } from './ledger/tag-account.ts';
export type { TagRecords } from './ledger/tag-account.ts';
export { reportOf, teamRegistry, teamSummary } from './stores/records/team-registry.ts';
export type { OpenTeam, RememberedChange, TeamRows, TeamSpace } from './stores/records/team-registry.ts';
export { forgetTeam, overRecords } from './stores/records/over-records.ts';
export { auditWrites } from './stores/records/record-audit.ts';
export { deletionEvent, eventNames, eventWrites, outlivesTeam, teamEvent } from './stores/records/event-record.ts';
export type { EventWrites } from './stores/records/event-record.ts';
export type * from './ports/record-space.ts';
export type { KeyDirectory } from './ports/key-directory.ts';
export type {
  Admission,
  AdmissionRequest,
  Admitted,
  CallerCheck,
  CheckedCaller,
  CreditExhausted,
  Placed,
  QuotaExceeded,
  RateStanding,
  Reservation,
  Resolution,
  Settlements,
  Verdict,
  WindowStanding,
} from './ports/ledger.ts';
export type { Log } from './ports/log.ts';
export { SHARED_RECORDS } from './domain/shared-records.ts';
export type { GatewayRecord, GatewayRecords } from './ports/store.ts';
export type { IdempotencyRecords } from './ports/idempotency-records.ts';
export type { EngineUse, EngineUsed, SentCharacters } from './ports/engine-use.ts';
export type { SharedSecrets } from './ports/store.ts';
export type { TagDay, TagHistory } from './ports/tag-registry.ts';
export type { SetTag, TagChanged, TagRegistry } from './ports/tag-registry.ts';
export type { TagSettings, TagUse } from './domain/request-tag.ts';
export type { DueEvent, EventFacts, OutboxEvent, Outbox } from './ports/outbox.ts';
export type { StoreCreation, StoreFault } from './ports/store.ts';
export type * from './ports/whole-accounts.ts';
export type * from './ports/team-registry.ts';
export type { TeamLimits } from './domain/plan.ts';
export { costMicro, minorRoundedDown, minorRoundedUp } from './domain/money.ts';
export type { Micro } from './domain/money.ts';
export { allowsAddress } from './domain/key-limits.ts';
export { dayOf, parseDuration, periodAt } from './domain/period.ts';
export type { Period } from './domain/period.ts';
export { movedCredit, spentIn } from './domain/period.ts';
export type { PeriodCredit } from './domain/period.ts';
export { isInSpan } from './domain/period.ts';
export type { PeriodSpan } from './domain/period.ts';
export { RATE_WINDOW_MS } from './domain/admission.ts';
export type { Clock } from './ports/clock.ts';
export type {
  ChargeRow,
  DayRange,
  EndedPeriod,
  KeyDay,
  PeriodUse,
  RunningPeriod,
  TeamDays,
  TeamPeriods,
  UsageHistory,
} from './ports/usage-history.ts';
