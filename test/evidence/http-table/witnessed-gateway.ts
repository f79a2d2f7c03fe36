// A real gateway with a witness in every chain, one known key, and an engine that records its requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { digestOf, displayOf, limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { BODY_BYTES_MAX, TEXT_CHARACTERS_MAX } from './cases-limits.ts';
import { KEY } from './notation.ts';

/** A busy machine must not look like a failing engine; twice this and a second is the shortest allowed deadline of a request. */
const ENGINE_TIMEOUT_MS = 2000;
const REQUEST_SECONDS = 5;

const WITNESS = fileURLToPath(new URL('../../support/plugins/witness.ts', import.meta.url));
const PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000, max_characters_per_request: TEXT_CHARACTERS_MAX, max_glossaries: 1000 };

export interface WitnessedGateway extends TestGateway {
  readonly engine: ScriptedEngine;
  readonly teamId: string;
}

export async function startWitnessedGateway(listener: 'uws' | 'node'): Promise<WitnessedGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-http-'));
  const engine = await startScriptedEngine();
  const config = {
    // On a busy machine the disk must not look like a store that is down.
    store_options: { command_timeout_ms: 5000 },
    engine: { timeout_ms: ENGINE_TIMEOUT_MS },
    plugins: [{ module: WITNESS, options: {} }],
    // Every case is judged separately: hundreds of them at once on two cores must not look like an overload.
    limits: { body_bytes: BODY_BYTES_MAX, request_seconds: REQUEST_SECONDS, reservation_seconds: 60, shed_loop_delay_ms: 0 },
  };
  const gateway = await startGateway({ listener, store: `sqlite:${folder}/lingate.db`, engineUrls: [engine.url], config });
  const teamId = ulid();
  const { teams } = gateway.store;
  answered(await teams.createTeam({ teamId, name: 'Test', plan: 'test', limits: limitsOf(PLAN), balanceMicro: 0 }));
  answered(await teams.createKey({ keyId: ulid(), teamId, digest: digestOf(KEY), display: displayOf(KEY), label: 'test', mode: 'test' }));
  return {
    ...gateway,
    engine,
    teamId,
    async stop() {
      await gateway.stop();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
