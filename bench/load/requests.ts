// The bytes of the load's requests, built once.
import type { LoadTarget } from './load-job.ts';

export function requestBytes({ port, path, authorizations, body }: LoadTarget): Buffer[] {
  return authorizations.map((authorization) => {
    const credentials = authorization === '' ? '' : `Authorization: ${authorization}\r\n`;
    const fields = `Host: 127.0.0.1:${port}\r\n${credentials}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return Buffer.from(`POST ${path} HTTP/1.1\r\n${fields}\r\n${body}`);
  });
}
