// The compose file uses only what lingate has, and confines every service.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
import { openStore } from '../../../src/stores/open.ts';
import { startRedis } from '../../support/redis.ts';
import { configOf, imageConfig, instructionsOf, opsPaths, read } from './image.ts';

interface ComposeService {
  readonly image?: string;
  readonly build?: string | { readonly dockerfile_inline: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly user?: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly mem_limit: string;
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
  readonly networks: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required: boolean }>>;
  readonly healthcheck: { readonly test: readonly string[] };
}

/** A service with these variables substituted; each has a default in the file. */
function withVariables(service: ComposeService, variables: Readonly<Record<string, string>>): ComposeService {
  const environment = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_all, variable: string, fallback: string) => variables[variable] ?? fallback),
  ]);
  return { ...service, environment: Object.fromEntries(environment) as Record<string, string> };
}

describe('the compose file', () => {
  const { services } = parse(read('config/compose.yaml'), { merge: true }) as { services: Record<string, ComposeService> };
  const lingate = withVariables(services['lingate']!, {});
  const redis = services['redis']!;
  const engine = instructionsOf((services['engine']!.build as { dockerfile_inline: string }).dockerfile_inline);

  test('confines every service', () => {
    expect(Object.keys(services)).toEqual(['lingate', 'redis', 'engine', 'libretranslate']);
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
      expect(service.healthcheck.test[0]).toBe('CMD');
    }
    expect(redis.user).toBe('redis');
    expect(engine.filter(([name]) => name === 'USER')).toEqual([['USER', '65532:65532']]);
  });

  test('runs lingate with flags, variables and addresses that exist', () => {
    const config = configOf(lingate.command!, lingate.environment!);
    expect(config.store).toBe('redis://redis:6379');
    expect(services[new URL(config.store).hostname]).toBe(redis);
    expect(builtInProtocols.has(config.engines[0]!.protocol)).toBe(true);
    expect(config.engines[0]!).toMatchObject({ protocol: 'apertium', urls: ['http://engine:2737'] });
    expect(Object.fromEntries(engine)['ENTRYPOINT']).toContain('"--port", "2737"');
    expect(Object.keys(lingate.depends_on!)).toEqual(['redis', 'engine']);
    expect(lingate.build).toBe('..');
    expect(Number.parseInt(lingate.stop_grace_period!, 10)).toBeGreaterThan(
      config.limits.drain_delay_seconds + config.limits.drain_seconds + 5,
    );
  });

  test('speaks LibreTranslate to the service of that profile, if configured', () => {
    const header = read('config/compose.yaml').split('\nname:')[0]!;
    const variables = Object.fromEntries([...header.matchAll(/(LINGATE_ENGINE_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]));
    const { environment } = withVariables(services['lingate']!, variables);
    const config = configOf(lingate.command!, environment!);
    expect(builtInProtocols.has(config.engines[0]!.protocol)).toBe(true);
    expect(config.engines[0]!).toMatchObject({ protocol: 'libretranslate', urls: ['http://libretranslate:5000'] });
    expect(services[new URL(config.engines[0]!.urls[0]!).hostname]).toMatchObject({ profiles: [config.engines[0]!.protocol] });
  });

  test('keeps engines apart from the store, and the store apart from everything else', () => {
    const { networks } = parse(read('config/compose.yaml')) as { networks: Record<string, { internal?: boolean } | null> };
    const shared = (one: ComposeService, other: ComposeService): string[] => one.networks.filter((name) => other.networks.includes(name));
    for (const name of ['engine', 'libretranslate']) {
      expect(shared(services[name]!, redis)).toEqual([]);
      expect(shared(services[name]!, lingate)).toEqual(['engines']);
    }
    expect(shared(redis, lingate)).toEqual(['store']);
    expect(networks).toEqual({ engines: null, store: { internal: true } });
  });

  test('lets every service but lingate be left out and replaced by one elsewhere', () => {
    const profiles = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, service.profiles]));
    expect(profiles).toEqual({ lingate: undefined, redis: ['redis'], engine: ['apertium'], libretranslate: ['libretranslate'] });
    for (const { required } of Object.values(lingate.depends_on!)) expect(required).toBe(false);
    const own = { LINGATE_STORE: 'redis://db:1', LINGATE_ENGINE_URL: 'http://mt:2', LINGATE_ENGINE_PROTOCOL: 'native' };
    expect(configOf(lingate.command!, withVariables(services['lingate']!, own).environment!)).toMatchObject({
      store: 'redis://db:1',
      engines: [{ urls: ['http://mt:2'], protocol: 'native' }],
    });
    const commands = read('config/compose.yaml')
      .split('\nname:')[0]!
      .matchAll(/--profile (\w+)/g);
    const known = Object.values(services).flatMap((service) => service.profiles ?? []);
    for (const [, profile] of commands) expect(known).toContain(profile);
  });

  test('publishes only the public port, only to this machine', () => {
    expect(lingate.ports).toEqual([`127.0.0.1:8080:${imageConfig.listen.port}`]);
    expect(redis.ports).toBeUndefined();
    expect(services['engine']!.ports).toBeUndefined();
    const url = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(lingate.healthcheck.test.at(-1)!)!;
    expect(Number(url[1])).toBe(imageConfig.ops.port);
    expect(opsPaths).toContain(url[2]);
  });

  test('runs Redis with settings that lingate does not warn about', async () => {
    expect(redis.command![0]).toBe('redis-server');
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const server = await startRedis(redis.command!.slice(1));
    const log = { info: () => undefined, warn, error: warn };
    const store = await openStore(server.url, { log, clock: { nowMs: () => Date.now() } });
    await store.close();
    await server.stop();
    expect(warnings).toEqual([]);
  });
});
