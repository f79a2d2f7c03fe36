// Forward routes as a configuration asks for them: whether they fit, their secrets, and what they go through.
import process from 'node:process';
import type { Config } from '../config/config.ts';
import { forwardSettings } from '../config/forward-settings.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
import { labelOf } from '../config/load.ts';
import type { Environment } from '../config/overrides.ts';
import type { ProxyUpstream, ProxyUpstreamOptions } from '../forward/proxy-upstream.ts';

/** `own` are the routes that there are. Throws a `ConfigError` that says what does not fit, or which secret is missing. */
export function setUpForward(config: Config, own: readonly { readonly path: string }[], env: Environment = process.env): ForwardRoute[] {
  const taken = own.map(({ path }) => path);
  return forwardSettings(config.forward, taken, { env, file: config.file }, labelOf(config.file));
}

/** `undefined` where nothing is forwarded: only otherwise is http-proxy-3 loaded. */
export async function openUpstream({ forward }: Config, options: ProxyUpstreamOptions): Promise<ProxyUpstream | undefined> {
  if (forward.length === 0) return undefined;
  const { openProxyUpstream } = await import('../forward/proxy-upstream.ts');
  return openProxyUpstream(options);
}
