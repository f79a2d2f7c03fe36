// What is valid in a configuration and probably a mistake: for `config check`, and for the log when a gateway starts.
import { adviceOnCertificate } from './certificate-watch.ts';
import { docsUrlOn } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { formatNetworkAddress, isLoopback } from '../config/network-address.ts';

/** One line each, with the member to change. What concerns the environment is in `sources.warnings`. */
export function adviceOn(config: Config): readonly string[] {
  const certificate = adviceOnCertificate(config);
  return [...adviceOnDocs(config), ...adviceOnSignIn(config), ...(certificate === undefined ? [] : [certificate])];
}

function adviceOnSignIn({ admin }: Config): readonly string[] {
  if (admin?.oidc === undefined || admin.token !== undefined || admin.tokens.length > 0) return [];
  return [
    'admin: has no token beside oidc: nobody can sign in while the provider is away, and the admin API takes tokens only; give it a token',
  ];
}

function adviceOnDocs({ listen, ops, service: { publicUrl, docsUrl } }: Config): readonly string[] {
  const docsHost = new URL(docsUrl).hostname.replace(/^\[|\]$/g, '');
  const isOnlyHere = isLoopback(docsHost);
  const isOnOps = publicUrl === undefined && docsUrl === docsUrlOn(ops);
  if (isLoopback(listen.host) || !(isOnlyHere || isOnOps)) return [];
  const [member, change] =
    publicUrl === undefined
      ? ['service.public_url: is not set', 'set it to the URL that callers use']
      : [`service.docs_url: is ${docsUrl}`, 'leave it out, so that it is below service.public_url'];
  return [
    `${member}, but ${formatNetworkAddress(listen)} can be reached from other machines: the "type" of every error points to ${docsUrl}, which ${isOnlyHere ? 'only this machine can open' : 'is the ops listener, not for callers'}; ${change}`,
  ];
}
