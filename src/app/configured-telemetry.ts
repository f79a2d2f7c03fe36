// The telemetry that a configuration asks for: OpenTelemetry's SDK is only loaded with `otel`.
import type { Config } from '../config/config.ts';
import { ConfigError, labelOf } from '../config/config-error.ts';
import type { Environment } from '../config/environment.ts';
import { otelSettings } from '../config/otel-settings.ts';
import type { OtelSettings, Telemetry } from '../ports/telemetry.ts';
import type { TelemetryOptions } from '../telemetry/open-telemetry.ts';
import { versionOf } from './version.ts';

/** The process of a gateway without workers. */
export const ONLY_PROCESS = 'gateway';
/** The longest time for which stopping waits for the last exports. */
const FLUSH_MS = 3000;
/** The part of the time for stopping that is left for what is closed after them. */
const AFTER_FLUSH_MS = 500;

/** How long to wait for the last exports, given the remaining time for stopping. */
export function flushWithinMs(leftMs: number): number {
  return Math.max(0, Math.min(FLUSH_MS, leftMs - AFTER_FLUSH_MS));
}

/** The settings, with which it could be opened. `undefined` without `otel`. Rejects with a `ConfigError`. */
export async function judgeTelemetry(
  config: Config,
  env: Environment,
  headers: OtelSettings['headers'],
): Promise<OtelSettings | undefined> {
  const settings = otelSettings(config, env, headers);
  if (settings === undefined) return undefined;
  const { tryTelemetry } = await import('../telemetry/open-telemetry.ts');
  const fault = await tryTelemetry(settings);
  if (fault !== undefined) throw new ConfigError([`${labelOf(config.file)}: otel: ${fault}`]);
  return settings;
}

export async function openTelemetryOf(
  settings: OtelSettings | undefined,
  options: Omit<TelemetryOptions, 'settings' | 'version'>,
): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined;
  const { openTelemetry } = await import('../telemetry/open-telemetry.ts');
  return openTelemetry({ ...options, settings, version: versionOf() });
}
