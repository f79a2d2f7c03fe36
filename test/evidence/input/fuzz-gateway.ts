// The gateway of a fuzz session, in a process of its own, so that a crash is noticed and isolated.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { digestOf, displayOf } from '../../../src/domain/api-key.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { KEY } from '../http-table/notation.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { openBeside } from '../../support/store-place.ts';

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));
const PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000, characters: 1_000_000_000, max_glossaries: 10_000 };
const REQUEST_SECONDS = 11;

/** Its one team has the key of the HTTP table. */
export async function startFuzzedGateway(listener: 'uws' | 'node', folder: string, engineUrl: string): Promise<GatewayProcess> {
  const store = `sqlite:${folder}/lingate.db`;
  const file = join(folder, 'lingate.yaml');
  const config = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    listener,
    store,
    store_options: { command_timeout_ms: 5000 },
    languages: LANGUAGES,
    engine: { urls: [engineUrl], timeout_ms: 5000 },
    limits: { body_bytes: 65_536, request_seconds: REQUEST_SECONDS, shed_loop_delay_ms: 0, drain_seconds: 1 },
  };
  await writeFile(file, JSON.stringify(config));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', file] });
  const opened = await openBeside(store);
  const teamId = ulid();
  answered(await opened.teams.createTeam({ teamId, name: 'Fuzz', plan: 'fuzz', limits: limitsOf(PLAN), balanceMicro: 0 }));
  answered(
    await opened.teams.createKey({ keyId: ulid(), teamId, digest: digestOf(KEY), display: displayOf(KEY), label: 'fuzz', mode: 'test' }),
  );
  await opened.close();
  return gateway;
}
