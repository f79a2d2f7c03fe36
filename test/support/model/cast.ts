// Maps the small numbers in a history's steps to the ids of teams, keys, glossaries and requests.
import { ulid } from 'ulid';
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { AdmissionRequest, CallerCheck } from '../../../src/ports/ledger.ts';
import { KEYS, PAIRS, TEAMS } from './history.ts';
import type { GlossaryUse, Step } from './history.ts';

/** For a team that has not created as many glossaries as a step refers to. */
const NO_GLOSSARY = ulid();

export class Cast {
  readonly teamIds: string[] = Array.from({ length: TEAMS }, () => ulid());
  /** Deleted, with their usage kept. */
  readonly deletedIds: string[] = [];
  readonly #keyIds: readonly string[][] = Array.from({ length: TEAMS }, () => []);
  readonly #glossaryIds: readonly string[][] = Array.from({ length: TEAMS }, () => []);
  readonly #requestIds = new Map<number, string>();

  addKey(team: number, keyId: string): void {
    this.#keyIds[team % TEAMS]?.push(keyId);
  }

  /** Of the next key of the team: a team's keys take turns, and the first is a live one in the first team, a test key in the other. */
  nextMode(team: number): KeyMode {
    return (team + (this.#keyIds[team % TEAMS]?.length ?? 0)) % 2 === 0 ? 'live' : 'test';
  }

  addGlossary(team: number, glossaryId: string): void {
    this.#glossaryIds[team % TEAMS]?.push(glossaryId);
  }

  /** Another team from now on, without keys and glossaries. Requests keep the team that they were made for. */
  replaceTeam(team: number, isUsageKept: boolean): void {
    const at = team % TEAMS;
    if (isUsageKept) this.deletedIds.push(this.teamId(team));
    this.teamIds[at] = ulid();
    this.#keyIds[at]!.length = 0;
    this.#glossaryIds[at]!.length = 0;
  }

  teamId(team: number): string {
    return this.teamIds[team % TEAMS] ?? '';
  }

  keyId(team: number, key: number): string {
    const keyIds = this.#keyIds[team % TEAMS] ?? [];
    return keyIds[key % keyIds.length] ?? '';
  }

  glossaryId(team: number, nthLast: number): string {
    return this.#glossaryIds[team % TEAMS]?.at(-1 - nthLast) ?? NO_GLOSSARY;
  }

  /** A request's id and its team. */
  named(id: number): { readonly teamId: string; readonly requestId: string } {
    const requestId = this.#requestIds.get(id) ?? ulid();
    this.#requestIds.set(id, requestId);
    return { teamId: this.teamId(id), requestId };
  }

  request({
    id,
    key,
    characters,
    reserve,
    leaseMs,
    glossary,
    reportRate,
    reportPlan,
    address,
    scope,
    tag,
  }: Extract<Step, { step: 'admit' }>): AdmissionRequest {
    const team = id % TEAMS;
    return {
      ...this.named(id),
      keyId: this.keyId(key === KEYS - 1 ? team + 1 : team, key),
      characters,
      reserve,
      leaseMs,
      glossary: glossary === undefined ? undefined : this.#reference(team, glossary),
      reportRate,
      ...(reportPlan ? { reportPlan } : {}),
      ...(address === undefined ? {} : { address }),
      ...(scope === undefined ? {} : { scope }),
      ...(tag === undefined ? {} : { tag }),
    };
  }

  check({ id, key, address, scope, tag }: Extract<Step, { step: 'check' }>): CallerCheck {
    const team = id % TEAMS;
    const from = {
      ...(address === undefined ? {} : { address }),
      ...(scope === undefined ? {} : { scope }),
      ...(tag === undefined ? {} : { tag }),
    };
    return { ...this.named(id), keyId: this.keyId(key === KEYS - 1 ? team + 1 : team, key), ...from };
  }

  #reference(team: number, { foreign, nthLast, pair, byBase }: GlossaryUse): AdmissionRequest['glossary'] {
    const [sourceLang, targetLang] = pairOf(pair);
    return { glossaryId: this.glossaryId(foreign ? team + 1 : team, nthLast), sourceLang, targetLang, byBase };
  }
}

export function pairOf(pair: number): readonly [sourceLang: string, targetLang: string] {
  return PAIRS[pair % PAIRS.length] ?? PAIRS[0];
}
