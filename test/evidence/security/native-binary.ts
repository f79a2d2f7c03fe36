// What the native binary of the HTTP library has to be, byte for byte: the only machine code that runs besides Node itself.

export interface NativeBinary {
  readonly file: string;
  readonly sha256: string;
}

/** By platform, architecture and Node's ABI. The image keeps only its own; another is to be added here before it is used. */
export const NATIVE_BINARIES: Readonly<Record<string, NativeBinary>> = {
  'linux-x64-127': { file: 'uws_linux_x64_127.node', sha256: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af' },
};
