// The admission: judged in the order of the port from one reading of the account, and only then written.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { costMicro, minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import type { Admission, AdmissionRequest, GlossaryReference, Placed } from '../../ports/ledger.ts';
import { AdmissionAccounts } from './admission-account.ts';
import type { AdmissionAccount } from './admission-account.ts';
import type { CatchUp } from './catch-up.ts';
import { RateWindow } from './rate-window.ts';
import type { Remembrance } from './remembrance.ts';
import { OPEN } from './schema.ts';

export class Admissions {
  readonly #accounts: AdmissionAccounts;
  readonly #window: RateWindow;
  readonly #stampKey: StatementSync;
  readonly #updateTeam: StatementSync;
  readonly #remembrance: Remembrance;
  readonly #open: StatementSync;
  readonly #glossary: StatementSync;

  constructor(database: DatabaseSync, catchUp: CatchUp, remembrance: Remembrance) {
    this.#remembrance = remembrance;
    this.#accounts = new AdmissionAccounts(database, catchUp);
    this.#window = new RateWindow(database);
    this.#stampKey = database.prepare('UPDATE keys SET last_used_at_ms = ? WHERE no = ?');
    this.#updateTeam = database.prepare(`UPDATE teams SET place_next = place_next + 1, place_newest_ms = ?,
      held_characters = held_characters + ?, held_micro = held_micro + ? WHERE no = ?`);
    // An id that is past its time, but not cleared away yet, makes room for the new one.
    this.#open = database.prepare(`INSERT OR REPLACE INTO operations
      (request_id, team, state, until_ms, key, characters, price_micro, period_no) VALUES (?, ?, ${OPEN}, ?, ?, ?, ?, ?)`);
    this.#glossary = database.prepare('SELECT source_lang, target_lang FROM glossaries WHERE glossary_id = ? AND team = ?');
    this.#glossary.setReturnArrays(true);
  }

  /** To be run inside a transaction; `nowMs` is the operation's one reading of the clock. */
  admit(request: AdmissionRequest, nowMs: number): Admission {
    const account = this.#accounts.of(request, nowMs);
    if (account === undefined) return { kind: 'key_unknown' };
    const { state, untilMs, reservedCharacters, key, lastUsedAtMs } = account;
    const { requestId, teamId } = request;
    if (state !== null && nowMs < untilMs) {
      if (state !== OPEN) return { kind: 'repeated' };
      return { kind: 'admitted', reservation: { requestId, teamId, characters: reservedCharacters, leaseUntilMs: untilMs } };
    }
    if (key === null) return { kind: 'key_unknown' };
    if (account.revokedAtMs !== null) return { kind: 'key_revoked' };
    if (lastUsedAtMs === null || lastUsedAtMs < nowMs) this.#stampKey.run(nowMs, key);
    const retryAfterMs = this.#window.waitMs(account, nowMs);
    if (retryAfterMs > 0) return { kind: 'rate_limited', limit: account.requestsPerSecond, retryAfterMs };
    const remaining = request.reportRate === true ? this.#window.left(account, nowMs) : undefined;
    this.#window.take(account, nowMs);
    this.#remembrance.tick(nowMs);
    const answer = this.#reserve(request, account, key, nowMs);
    return remaining === undefined ? answer : { ...answer, rate: { limit: account.requestsPerSecond, remaining } };
  }

  /** For a request that has its place in the window: the other checks, and what they leave in the books. */
  #reserve(request: AdmissionRequest, account: AdmissionAccount, key: number, nowMs: number): Placed {
    const { team, maxCharacters, billing, minorPerMillion, periodNo } = account;
    const { requestId, teamId, characters, reserve, leaseMs, glossary } = request;
    if (characters !== undefined && characters > maxCharacters) {
      return this.#close(team, requestId, nowMs, { kind: 'text_too_long', maxCharacters });
    }
    if (!reserve || characters === undefined) return this.#close(team, requestId, nowMs, { kind: 'admitted', reservation: undefined });
    const priceMicro = billing === 'credit' ? costMicro(characters, minorPerMillion) : 0;
    const refusal = this.#glossaryRefusal(team, glossary) ?? booksRefusal(account, characters, priceMicro);
    if (refusal !== undefined) return this.#close(team, requestId, nowMs, refusal);
    const leaseUntilMs = nowMs + leaseMs;
    this.#open.run(requestId, team, leaseUntilMs, key, characters, priceMicro, periodNo);
    this.#updateTeam.run(nowMs, characters, priceMicro, team);
    return { kind: 'admitted', reservation: { requestId, teamId, characters, leaseUntilMs } };
  }

  /** Ends an admission that reserves nothing: its id stands as released. */
  #close(team: number, requestId: string, nowMs: number, answer: Placed): Placed {
    this.#remembrance.addReleased(team, requestId, nowMs);
    this.#updateTeam.run(nowMs, 0, 0, team);
    return answer;
  }

  #glossaryRefusal(team: number, glossary: GlossaryReference | undefined): Placed | undefined {
    if (glossary === undefined) return undefined;
    const pair = this.#glossary.get(glossary.glossaryId, team) as unknown as [sourceLang: string, targetLang: string] | undefined;
    if (pair === undefined) return { kind: 'glossary_missing' };
    return pair[0] === glossary.sourceLang && pair[1] === glossary.targetLang ? undefined : { kind: 'glossary_mismatch' };
  }
}

function booksRefusal(account: AdmissionAccount, characters: number, priceMicro: number): Placed | undefined {
  const { characterLimit, overageCapMinor, periodEndMs, currency } = account;
  if (account.billing === 'quota') {
    const total = account.usedCharacters + account.heldCharacters + characters;
    if (total <= characterLimit + account.overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs };
  }
  const freeMicro = account.balanceMicro - account.heldMicro;
  if (freeMicro >= priceMicro) return undefined;
  return { kind: 'credit_exhausted', balanceMinor: minorRoundedDown(freeMicro), requiredMinor: minorRoundedUp(priceMicro), currency };
}
