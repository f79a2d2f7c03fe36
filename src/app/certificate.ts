// The certificate of the public listener: taken from the configuration's files, unchanged by a
// reload that has no usable one, and reported before it ends: as advice, in the log once a day, and
// as a metric.
import { X509Certificate } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { bytesOf } from '../config/file-set.ts';
import { DAY_MS } from '../domain/period.ts';
import type { Log } from '../ports/log.ts';
import { ListenError } from '../server/listener.ts';
import type { TlsFiles } from '../server/listener.ts';
import { readTlsFiles } from '../server/tls-files.ts';

const WARNED_DAYS = 14;

/** Of the configuration's; `undefined` without TLS, or for none, which is reported elsewhere. */
export function certificateEnd({ tls, sources: { files } }: Config): { readonly file: string; readonly endsMs: number } | undefined {
  if (tls === undefined) return undefined;
  try {
    return { file: tls.certFile, endsMs: Date.parse(new X509Certificate(bytesOf(files, tls.certFile)).validTo) };
  } catch {
    return undefined;
  }
}

/** From 14 days before its end: a sentence that names the file; `undefined` before. */
export function adviceOnCertificate(config: Config, nowMs = Date.now()): string | undefined {
  const end = certificateEnd(config);
  if (end === undefined || end.endsMs - nowMs > WARNED_DAYS * DAY_MS) return undefined;
  const date = new Date(end.endsMs).toISOString();
  if (end.endsMs <= nowMs) return `tls.cert_file: ${end.file} ended at ${date}: callers refuse it; renew it and reload`;
  return `tls.cert_file: ${end.file} ends at ${date}, in ${Math.ceil((end.endsMs - nowMs) / DAY_MS)} days; renew it and reload`;
}

/** Once a day, as an error once the certificate has ended. Returns what ends the watch. */
export function watchCertificate(config: () => Config, log: Log): () => void {
  const timer = setInterval(() => {
    const reason = adviceOnCertificate(config());
    if (reason === undefined) return;
    const ended = certificateEnd(config())!.endsMs <= Date.now();
    log[ended ? 'error' : 'warn'](ended ? 'TLS: the certificate has ended' : 'TLS: the certificate ends soon', { reason });
  }, DAY_MS).unref();
  return () => clearInterval(timer);
}

/** `undefined` without TLS. Throws a `ListenError` if the two are not a certificate and its key. */
export function tlsOf({ tls, sources: { files } }: Config): TlsFiles | undefined {
  return tls && { ...tls, contents: readTlsFiles(tls, (path) => bytesOf(files, path)) };
}

/** `next`, before a reload, with the certificate of `running` if its own is unusable. */
export function withUsableTls(running: Config, next: Config, log: Log): Config {
  const reason = whyUnusable(next);
  if (reason === undefined || running.tls === undefined) return next;
  log.error('TLS: the certificate stays as it was', { reason });
  const { certFile, keyFile } = running.tls;
  const unchanged = [certFile, keyFile].map((path) => [path, running.sources.files.get(path)!] as const);
  return {
    ...next,
    raw: { ...next.raw, tls: running.raw.tls! },
    tls: running.tls,
    sources: { ...next.sources, files: new Map([...next.sources.files, ...unchanged]) },
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
