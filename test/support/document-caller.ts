// A caller of documents: uploads a file, waits for its state, downloads and deletes it.
import { expect, vi } from 'vitest';
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';

const BOUNDARY = 'a-boundary-of-tests';

interface Upload {
  readonly fileName?: string;
  readonly file: string | Uint8Array;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export class DocumentCaller {
  readonly port: number;
  readonly #key: string;

  constructor(port: number, key: string) {
    this.port = port;
    this.#key = key;
  }

  upload({ file, fileName = 'letter.txt', fields = { target_lang: 'DE' }, headers = {} }: Upload): Promise<HttpResponse> {
    return this.ask('POST', '', {
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: formOf(fields, fileName, file),
    });
  }

  /** Its id; the upload must be accepted. */
  async uploaded(upload: Upload): Promise<string> {
    const response = await this.upload(upload);
    expect([response.status, response.body]).toEqual([202, expect.any(String)]);
    return (JSON.parse(response.body) as { document_id: string }).document_id;
  }

  state(id: string): Promise<HttpResponse> {
    return this.ask('GET', `/${id}`);
  }

  /** What GET shows once it has this status. */
  async reached(id: string, status: string): Promise<Record<string, unknown>> {
    let shown: Record<string, unknown> = {};
    const look = async (): Promise<void> => {
      shown = JSON.parse((await this.state(id)).body) as Record<string, unknown>;
      expect(shown['status']).toBe(status);
    };
    await vi.waitFor(look, { timeout: 60_000 });
    return shown;
  }

  result(id: string): Promise<HttpResponse> {
    return this.ask('GET', `/${id}/result`);
  }

  remove(id: string): Promise<HttpResponse> {
    return this.ask('DELETE', `/${id}`);
  }

  ask(
    method: string,
    path: string,
    more: { readonly headers?: Readonly<Record<string, string>>; readonly body?: Uint8Array } = {},
  ): Promise<HttpResponse> {
    const headers = { authorization: `Bearer ${this.#key}`, ...more.headers };
    return request({ port: this.port, method, path: `/v1/documents${path}`, ...more, headers });
  }
}

function formOf(fields: Readonly<Record<string, string>>, fileName: string, file: string | Uint8Array): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + head), Buffer.from(file), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}
