// Teams as rows: how one is written, read back and changed.
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import type { NewTeam, Standing, Team } from '../../ports/team-registry.ts';
import { OPEN } from './schema.ts';

type Columns = Record<string, SQLOutputValue>;

export interface TeamRow {
  readonly team: Team;
  readonly heldMicro: number;
  readonly usedCharacters: number;
  readonly heldCharacters: number;
  readonly periodNo: number;
}

const LIMIT_COLUMNS = [
  'billing',
  'requests_per_second',
  'max_characters_per_request',
  'max_glossaries',
  'character_limit',
  'overage_characters',
  'overage_cap_minor',
  'minor_per_million',
  'currency',
  'period',
];

export class TeamRows {
  readonly #insert: StatementSync;
  readonly #one: StatementSync;
  readonly #all: StatementSync;
  readonly #setPlan: StatementSync;
  readonly #setBalance: StatementSync;
  readonly #countOpen: StatementSync;

  constructor(database: DatabaseSync) {
    const places = LIMIT_COLUMNS.map(() => '?').join(', ');
    this.#insert = database.prepare(`INSERT INTO teams (team_id, name, created_at_ms, balance_micro, plan, ${LIMIT_COLUMNS.join(', ')})
      VALUES (?, ?, ?, ?, ?, ${places}) RETURNING no`);
    this.#one = database.prepare('SELECT * FROM teams WHERE no = ?');
    this.#all = database.prepare('SELECT * FROM teams ORDER BY no');
    this.#setPlan = database.prepare(`UPDATE teams SET plan = ?, ${LIMIT_COLUMNS.join(' = ?, ')} = ? WHERE no = ?`);
    this.#setBalance = database.prepare('UPDATE teams SET balance_micro = ? WHERE no = ?');
    this.#countOpen = database.prepare(`SELECT count(*) AS open FROM operations WHERE team = ? AND state = ${OPEN}`);
  }

  /** The new row's number. Its first period is still to be started. */
  insert({ teamId, name, balanceMicro, plan, limits }: NewTeam, createdAtMs: number): number {
    return Number(this.#insert.get(teamId, name, createdAtMs, balanceMicro, plan, ...limitValues(limits))?.['no']);
  }

  get(no: number): TeamRow {
    const columns = this.#one.get(no)!;
    return {
      team: teamOf(columns),
      heldMicro: Number(columns['held_micro']),
      usedCharacters: Number(columns['used_characters']),
      heldCharacters: Number(columns['held_characters']),
      periodNo: Number(columns['period_no']),
    };
  }

  all(): Team[] {
    return this.#all.all().map(teamOf);
  }

  setPlan(no: number, plan: string, limits: TeamLimits): void {
    this.#setPlan.run(plan, ...limitValues(limits), no);
  }

  setBalance(no: number, balanceMicro: number): void {
    this.#setBalance.run(balanceMicro, no);
  }

  /** Of a team that has caught up: from its counters, so that whoever checks the books checks them. */
  standing(no: number): Standing {
    const { team, heldMicro, usedCharacters, heldCharacters } = this.get(no);
    const openReservations = Number(this.#countOpen.get(no)?.['open']);
    return { usedCharacters, heldCharacters, balanceMicro: team.balanceMicro, heldMicro, openReservations };
  }
}

/** In the order of `LIMIT_COLUMNS`. */
function limitValues(limits: TeamLimits): (string | number)[] {
  return [
    limits.billing,
    limits.requestsPerSecond,
    limits.maxCharactersPerRequest,
    limits.maxGlossaries,
    limits.characterLimit,
    limits.overageCharacters,
    limits.overageCapMinor,
    limits.minorPerMillion,
    limits.currency,
    limits.period,
  ];
}

function teamOf(columns: Columns): Team {
  return {
    teamId: String(columns['team_id']),
    name: String(columns['name']),
    plan: String(columns['plan']),
    limits: limitsOf(columns),
    balanceMicro: Number(columns['balance_micro']),
    createdAtMs: Number(columns['created_at_ms']),
  };
}

function limitsOf(columns: Columns): TeamLimits {
  return {
    billing: columns['billing'] === 'credit' ? 'credit' : 'quota',
    requestsPerSecond: Number(columns['requests_per_second']),
    maxCharactersPerRequest: Number(columns['max_characters_per_request']),
    maxGlossaries: Number(columns['max_glossaries']),
    characterLimit: Number(columns['character_limit']),
    overageCharacters: Number(columns['overage_characters']),
    overageCapMinor: Number(columns['overage_cap_minor']),
    minorPerMillion: Number(columns['minor_per_million']),
    currency: String(columns['currency']),
    period: String(columns['period']),
  };
}
