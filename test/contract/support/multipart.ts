import { randomUUID } from 'node:crypto';
import { request as httpRequest, type ClientRequest } from 'node:http';
import type { Asset, ErrorEnvelope } from '@millrace/contracts';
import { describedFetch } from '@millrace/testing';

/** A part as it stands in a form: its name, or its whole Content-Disposition, and its bytes. */
export interface Part {
  name: string;
  /** Written as it is, quotes included. */
  fileName?: string;
  value: string | Buffer;
}

export interface Form {
  body: Buffer;
  contentType: string;
}

export interface UploadAnswer<T = Asset & ErrorEnvelope> {
  status: number;
  headers: Headers;
  body: T;
}

/** A form with its parts in exactly this order. */
export function formOf(parts: Part[]): Form {
  const boundary = `b-${randomUUID()}`;
  const pieces = parts.flatMap(({ name, fileName, value }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: application/octet-stream`,
    '\r\n\r\n',
    value,
    '\r\n',
  ]);
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** The parts of an ordinary upload. */
export function partsOf(file: Buffer, fields: Record<string, string> = {}): Part[] {
  const all = { content_type: 'application/octet-stream', file_path: 'a.bin', ...fields };
  return [
    ...Object.entries(all).map(([name, value]) => ({ name, value })),
    { name: 'file', fileName: 'a.bin', value: file },
  ];
}

/** Send a form, and read the answer, which is held to the API description. */
export async function postForm(
  base: string,
  { body, contentType }: Form,
  headers: Record<string, string> = {},
): Promise<UploadAnswer> {
  const url = `${base}/api/v2/assets`;
  const answer = await describedFetch(new URL(base).origin)(url, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': contentType, ...headers },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Asset & ErrorEnvelope };
}

/** Begin an upload of no declared length. The caller ends it, or breaks it off. */
export function beginUpload(
  base: string,
  form: Pick<Form, 'contentType'>,
  headers: Record<string, string>,
): ClientRequest {
  const url = new URL(`${base}/api/v2/assets`);
  return httpRequest(url, { method: 'POST', headers: { 'content-type': form.contentType, ...headers } });
}

/** The answer to a request that was begun with `beginUpload`. */
export function answerTo(request: ClientRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
}
