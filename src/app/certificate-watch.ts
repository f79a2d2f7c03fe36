// When the certificate of the public listener ends: for the advice on a configuration, the log once a day, and a metric.
import { X509Certificate } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { bytesOf } from '../config/file-set.ts';
import { DAY_MS } from '../domain/period.ts';
import type { Log } from '../ports/log.ts';

const WARNED_DAYS = 14;

interface CertificateEnd {
  /** Absolute path. */
  readonly file: string;
  readonly endsMs: number;
}

/** Of the certificate of the configuration; `undefined` without TLS, or if the file is no certificate, which is reported elsewhere. */
export function certificateEnd({ tls, sources: { files } }: Config): CertificateEnd | undefined {
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

/** Logs the advice once a day, as an error once the certificate has ended. Returns what ends the watch. */
export function watchCertificate(config: () => Config, log: Log): () => void {
  const timer = setInterval(() => {
    const reason = adviceOnCertificate(config());
    if (reason === undefined) return;
    const ended = certificateEnd(config())!.endsMs <= Date.now();
    log[ended ? 'error' : 'warn'](ended ? 'TLS: the certificate has ended' : 'TLS: the certificate ends soon', { reason });
  }, DAY_MS).unref();
  return () => clearInterval(timer);
}
