// Teams, keys and their counts as Redis holds them: hashes of text.
import type { KeyMode } from '../../domain/api-key.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { KeyRecord, KeyUsage, NewKey, NewTeam, Standing, Team, TeamChange, Usage } from '../../ports/team-registry.ts';

type Fields = ReadonlyMap<string, string>;

/** Names and values, as the scripts take them. */
export function newTeamFields(team: NewTeam): string[] {
  return ['name', team.name, 'balance', String(team.balanceMicro), ...planFields(team.plan, team.limits)];
}

export function changedTeamFields(change: TeamChange): string[] {
  return change.plan === undefined ? [] : planFields(change.plan.name, change.plan.limits);
}

function planFields(plan: string, limits: TeamLimits): string[] {
  return ['plan', plan, ...Object.entries(limits).flatMap(([name, value]) => [name, String(value)])];
}

/** A hash as Redis answers it: names and values in turn. */
export function readFields(reply: unknown): Fields {
  const flat = reply as readonly string[];
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(String(flat[i]), String(flat[i + 1]));
  return fields;
}

export function readTeam(teamId: string, fields: Fields): Team {
  return {
    teamId,
    name: text(fields, 'name'),
    plan: text(fields, 'plan'),
    limits: {
      billing: text(fields, 'billing') === 'credit' ? 'credit' : 'quota',
      requestsPerSecond: number(fields, 'requestsPerSecond'),
      maxCharactersPerRequest: number(fields, 'maxCharactersPerRequest'),
      maxGlossaries: number(fields, 'maxGlossaries'),
      characterLimit: number(fields, 'characterLimit'),
      overageCharacters: number(fields, 'overageCharacters'),
      overageCapMinor: number(fields, 'overageCapMinor'),
      minorPerMillion: number(fields, 'minorPerMillion'),
      currency: text(fields, 'currency'),
      period: text(fields, 'period'),
    },
    balanceMicro: number(fields, 'balance'),
    createdAtMs: number(fields, 'created'),
  };
}

/** The part of a key's record that never changes and is nobody's index. */
export function keyJson({ display, label, mode }: NewKey): string {
  return JSON.stringify({ display, label, mode });
}

/** `record` is `<order> <created> <JSON>`; `lastUse` is empty or absent while there was none. */
export function readKey(
  ids: { readonly keyId: string; readonly teamId: string },
  record: string,
  status: string | undefined,
  lastUse: string | undefined,
): KeyRecord {
  const [, createdAtMs = '', json = ''] = /^\d+ (\d+) (.*)$/s.exec(record) ?? [];
  const { display, label, mode } = JSON.parse(json) as { display: string; label: string; mode: KeyMode };
  return {
    keyId: ids.keyId,
    teamId: ids.teamId,
    display,
    label,
    mode,
    status: status === 'active' ? 'active' : 'revoked',
    createdAtMs: Number(createdAtMs),
    lastUsedAtMs: lastUse === undefined || lastUse === '' ? undefined : Number(lastUse),
  };
}

/** What the survey script answers behind time and word. */
export interface Survey {
  readonly usage: Usage;
  readonly standing: Standing;
  readonly keys: readonly KeyRecord[];
}

export function readSurvey(teamId: string, values: readonly unknown[]): Survey {
  const [team, records, use] = [readFields(values[2]), readFields(values[3]), readFields(values[4])];
  const keys = [...records]
    .toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map(([keyId, record]) => readKey({ keyId, teamId }, record, team.get(`k:${keyId}`), team.get(`u:${keyId}`)));
  const characters = Number(use.get('characters') ?? 0);
  const counted: KeyUsage[] = keys.map((key) => ({
    ...key,
    characters: Number(use.get(`${key.keyId}:c`) ?? 0),
    requests: Number(use.get(`${key.keyId}:r`) ?? 0),
  }));
  const [periodStartMs, periodEndMs] = [number(team, 'period_start'), number(team, 'period_end')];
  return {
    usage: { team: readTeam(teamId, team), periodStartMs, periodEndMs, characters, keys: counted },
    standing: {
      usedCharacters: characters,
      heldCharacters: Number(values[5]),
      balanceMicro: number(team, 'balance'),
      heldMicro: Number(values[6]),
      openReservations: Number(values[7]),
    },
    keys,
  };
}

function text(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new Error(`a team's record has no ${name}`);
  return value;
}

function number(fields: Fields, name: string): number {
  return Number(text(fields, name));
}
