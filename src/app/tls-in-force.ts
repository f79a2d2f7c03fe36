// The certificate of the public listener: taken from the files of the configuration, and kept at a reload that has no usable one.
import type { Config } from '../config/config.ts';
import { bytesOf } from '../config/file-set.ts';
import type { Log } from '../ports/log.ts';
import { ListenError } from '../server/listener.ts';
import type { TlsFiles } from '../server/listener.ts';
import { readTlsFiles } from '../server/tls-files.ts';

/** `undefined` without TLS. Throws a `ListenError` if the two are not a certificate and its key. */
export function tlsOf({ tls, sources: { files } }: Config): TlsFiles | undefined {
  return tls && { ...tls, contents: readTlsFiles(tls, (path) => bytesOf(files, path)) };
}

/** `next`, which a reload is about to apply, with the certificate of `running` if its own cannot be used, which is logged. */
export function withUsableTls(running: Config, next: Config, log: Log): Config {
  const reason = whyUnusable(next);
  if (reason === undefined || running.tls === undefined) return next;
  log.error('TLS: the certificate stays as it was', { reason });
  const { certFile, keyFile } = running.tls;
  const kept = [certFile, keyFile].map((path) => [path, running.sources.files.get(path)!] as const);
  return {
    ...next,
    raw: { ...next.raw, tls: running.raw.tls! },
    tls: running.tls,
    sources: { ...next.sources, files: new Map([...next.sources.files, ...kept]) },
  };
}

function whyUnusable(next: Config): string | undefined {
  try {
    tlsOf(next);
    return undefined;
  } catch (error) {
    if (error instanceof ListenError) return error.message;
    throw error;
  }
}
