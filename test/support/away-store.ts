// The ports of a store that is unavailable: every method returns that.
import type { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import type { AuditLog } from '../../src/ports/audit-log.ts';
import type { GlossaryStore } from '../../src/ports/glossary-store.ts';
import type { TeamRegistry } from '../../src/ports/team-registry.ts';

const AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'away', advice: 'the store mine:7 gave no answer: start it' };

const answerAway = () => Promise.resolve(AWAY);

export const AWAY_TEAMS: TeamRegistry = {
  createTeam: answerAway,
  listTeams: answerAway,
  pageTeams: answerAway,
  pageSummaries: answerAway,
  findTeam: answerAway,
  updateTeam: answerAway,
  deleteTeam: answerAway,
  createKey: answerAway,
  listKeys: answerAway,
  updateKey: answerAway,
  revokeKey: answerAway,
  replicated: async () => undefined,
  findKeys: answerAway,
  usage: answerAway,
  standing: answerAway,
};

export const AWAY_AUDIT: AuditLog = { page: answerAway, forgetNames: answerAway, restore: answerAway };

export const AWAY_GLOSSARIES: GlossaryStore = {
  create: answerAway,
  list: answerAway,
  find: answerAway,
  entries: answerAway,
  change: answerAway,
  ownerOf: answerAway,
  remove: answerAway,
};
