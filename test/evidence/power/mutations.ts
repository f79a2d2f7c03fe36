// The table of planted bugs: each must be caught by every test run that it names.
import { BILLING_MUTATIONS } from './billing-mutations.ts';
import { CHAIN_MUTATIONS } from './chain-mutations.ts';
import { CHART_MUTATIONS } from './chart-mutations.ts';
import { CLOCK_MUTATIONS } from './clock-mutations.ts';
import { CONSOLE_MUTATIONS } from './console-mutations.ts';
import { ENGINE_MUTATIONS } from './engine-mutations.ts';
import { ERASURE_MUTATIONS } from './erasure-mutations.ts';
import { FILE_MUTATIONS } from './file-mutations.ts';
import { GLOSSARY_MUTATIONS } from './glossary-mutations.ts';
import { HISTORY_MUTATIONS } from './history-mutations.ts';
import { KEY_LIMIT_MUTATIONS } from './key-limit-mutations.ts';
import { TAG_MUTATIONS } from './tag-mutations.ts';
import { WINDOW_MUTATIONS } from './window-mutations.ts';
import { LISTENER_MUTATIONS } from './listener-mutations.ts';
import { MEMORY_MUTATIONS } from './memory-mutations.ts';
import type { Mutation } from './mutation.ts';
import { OIDC_MUTATIONS } from './oidc-mutations.ts';
import { OPERATOR_MUTATIONS } from './operator-mutations.ts';
import { OUTAGE_MUTATIONS } from './outage-mutations.ts';
import { PLUGIN_MUTATIONS } from './plugin-mutations.ts';
import { RATE_FLOOD_MUTATIONS } from './rate-flood-mutations.ts';
import { REPLICA_MUTATIONS } from './replica-mutations.ts';
import { EVENT_MUTATIONS } from './event-mutations.ts';
import { ROUTING_MUTATIONS } from './routing-mutations.ts';
import { STORE_MUTATIONS } from './store-mutations.ts';
import { DOCUMENT_MUTATIONS } from './document-mutations.ts';
import { TELEMETRY_MUTATIONS } from './telemetry-mutations.ts';
import { UPKEEP_MUTATIONS } from './upkeep-mutations.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...CHAIN_MUTATIONS,
  ...LISTENER_MUTATIONS,
  ...CONSOLE_MUTATIONS,
  ...ENGINE_MUTATIONS,
  ...PLUGIN_MUTATIONS,
  ...MEMORY_MUTATIONS,
  ...REPLICA_MUTATIONS,
  ...ROUTING_MUTATIONS,
  ...STORE_MUTATIONS,
  ...KEY_LIMIT_MUTATIONS,
  ...TAG_MUTATIONS,
  ...WINDOW_MUTATIONS,
  ...RATE_FLOOD_MUTATIONS,
  ...EVENT_MUTATIONS,
  ...BILLING_MUTATIONS,
  ...HISTORY_MUTATIONS,
  ...GLOSSARY_MUTATIONS,
  ...ERASURE_MUTATIONS,
  ...OIDC_MUTATIONS,
  ...OPERATOR_MUTATIONS,
  ...OUTAGE_MUTATIONS,
  ...FILE_MUTATIONS,
  ...UPKEEP_MUTATIONS,
  ...CHART_MUTATIONS,
  ...CLOCK_MUTATIONS,
  ...TELEMETRY_MUTATIONS,
  ...DOCUMENT_MUTATIONS,
];
