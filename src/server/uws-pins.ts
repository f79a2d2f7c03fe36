// The builds of uWebSockets.js that may be loaded, each pinned by its version and the SHA-256 of its binaries.

export interface PinnedBuild {
  /** The package's own name. */
  readonly name: string;
  readonly version: string;
  /** The name under which it is installed. */
  readonly installedAs: string;
  /** The directory of its binaries within the package. */
  readonly folder: string;
  /** SHA-256 by file. The number in a file name is Node's ABI: 127 is Node 22, 137 is Node 24; there is no build for 147, Node 26. */
  readonly binaries: Readonly<Record<string, string>>;
}

/** Built by btc-vision from its fork of uWebSockets.js; on Linux it needs glibc 2.38 (Debian 13, Ubuntu 24.04). */
export const NEWER: PinnedBuild = {
  name: '@btc-vision/uwebsockets.js',
  version: '20.57.0',
  installedAs: '@btc-vision/uwebsockets.js',
  folder: '.',
  binaries: {
    'uws_darwin_arm64_127.node': '6180345d453e2e113feb2b0d76376493cd6a90056c3483fc22de7b0c340dc231',
    'uws_darwin_arm64_137.node': '2187391c702fa7ad3bf685eff7712c15cf24fa7cf324a131dfcbae3fd0f20a9a',
    'uws_darwin_x64_127.node': 'fd551673f3ce1f104d7cec3ba8f628d9d04853eff1045c9d95983372ed90bca0',
    'uws_darwin_x64_137.node': '98fd7e9456e2d37d3262b05b053d673830927f91c63c0c2ae73bde8d19eef293',
    'uws_linux_arm64_127.node': '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
    'uws_linux_arm64_137.node': '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
    'uws_linux_x64_127.node': '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    'uws_linux_x64_137.node': '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    'uws_win32_x64_127.node': 'b4fa85dd015d6d32655f75e9d5b2480124b7649d9265a2b84d8dafe37f88f838',
    'uws_win32_x64_137.node': '84ae72d2149e6ffa2a44063344073599027b1ce8bffaab3957903f966b0c6bb9',
  },
};

/** Built by rtritto from uWebSockets of autumn 2024; works with glibc 2.27 and later. */
export const OLDER: PinnedBuild = {
  name: 'uws-pack',
  version: '20.0.8',
  installedAs: 'uWebSockets.js',
  folder: 'dist/bin',
  binaries: {
    'uws_darwin_arm64_127.node': 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
    'uws_darwin_x64_127.node': 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
    'uws_linux_arm_127.node': '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
    'uws_linux_arm64_127.node': 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
    'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
    'uws_win32_x64_127.node': '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
  },
};
