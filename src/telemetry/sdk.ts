// Loads OpenTelemetry's SDK: optional packages, which are only needed, and only loaded, if `otel` is configured.

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/resources',
  '@opentelemetry/otlp-transformer',
] as const;

/** The message names the packages. */
export class SdkMissing extends Error {
  override readonly name = 'SdkMissing';
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Rejects with an `SdkMissing`. */
export async function loadSdk() {
  try {
    const [api, trace, metrics, resources, transformer] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/otlp-transformer'),
    ]);
    return { api, trace, metrics, resources, transformer };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new SdkMissing(
      `needs the optional packages ${PACKAGES.join(', ')}, and at least one is not installed; install without --omit=optional`,
    );
  }
}
