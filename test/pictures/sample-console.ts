// The console on made-up teams and traffic: real pages on a real listener and store, nothing that serves callers behind them.
import { recordRefusals } from '../../src/stores/records/record-refusals.ts';
import { Operators } from '../../src/admin/operators.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminApps } from '../../src/app/admin-side.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startOpsListener } from '../../src/ops/ops-listener.ts';
import { sampleRequests, sampleStates } from './sample-states.ts';
import { sampleDocuments } from './sample-documents.ts';
import { SAMPLE_PLANS, sampleChanges, sampleTeams } from './sample-teams.ts';
import { answered } from '../../src/domain/store-unavailable.ts';
import { SILENT } from '../support/silent-log.ts';
import { openBeside } from '../support/store-place.ts';

export interface SampleConsole {
  readonly url: string;
  readonly token: string;
  /** Of a team with several keys. */
  readonly teamId: string;
  /** One of its keys. */
  readonly keyId: string;
  readonly glossaryId: string;
  close(): Promise<void>;
}

const TOKEN = 'a token for pictures, 32 characters or more';

export async function openSampleConsole(): Promise<SampleConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-pictures-'));
  const file = join(folder, 'lingate.yaml');
  await writeFile(file, JSON.stringify({ plans: SAMPLE_PLANS }));
  const config = loadConfig({ file, env: {}, flags: { store: `sqlite:${folder}/lingate.db` } });
  const clock = { atMs: Date.now() };
  const store = await openBeside(config.store, { nowMs: () => clock.atMs });
  const teamId = await sampleTeams(store, config.plans, clock);
  const glossaryId = await sampleChanges(store, teamId);
  const ids = answered(await store.teams.pageTeams({ after: undefined, limit: 15, search: undefined })).map((team) => team.teamId);
  await sampleDocuments(store, ids, clock);
  const keys = answered(await store.teams.listKeys(teamId))!;
  const apps = adminApps({
    operators: new Operators([{ name: 'admin', role: 'manage', token: TOKEN }]),
    oidc: undefined,
    store,
    refusals: recordRefusals(store.records, config.history.days),
    processes: {
      states: () => Promise.resolve(sampleStates(Date.now(), ids)),
      recentRequests: () => Promise.resolve(sampleRequests(Date.now(), ids)),
      teamsChanged: () => undefined,
    },
    config: () => ({ ...config, store: 'sqlite:/var/lib/lingate/lingate.db' }),
    docsUrl: () => config.service.docs_url,
    pluginStatuses: new Map(),
    log: SILENT,
    nowMs: Date.now,
  });
  const listener = await startOpsListener({ host: '127.0.0.1', port: 0, pages: {}, names: [], apps });
  return {
    url: `http://127.0.0.1:${listener.address.port}/console`,
    token: TOKEN,
    teamId,
    keyId: keys[0]!.keyId,
    glossaryId,
    async close() {
      await listener.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
