import type { IncomingMessage } from 'node:http';
import { type z } from 'zod';
import { Refusal, type FieldError } from '@millrace/contracts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Read a request's body as text.
 *
 * @throws Refusal 413, 415, or 400 when the bytes are not UTF-8.
 */
export async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  assertJson(request);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid UTF-8.', { status: 400 });
  }
}

function assertJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) {
    throw new Refusal('unsupported_media_type', 'Send the body as application/json.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a content encoding.');
  }
}

function tooLarge(maxBytes: number): Refusal {
  // What is left of the body is not read: the connection cannot be used again.
  const headers = { Connection: 'close' };
  return new Refusal('payload_too_large', `The body is larger than ${maxBytes} bytes, which is the limit.`, {
    headers,
  });
}

const SMALL_BODY_BYTES = 65_536;

/**
 * Read a small JSON body of a known shape.
 *
 * @param absent text that stands for a body that was not sent.
 * @throws Refusal.
 */
export async function readJson<T>(request: IncomingMessage, schema: z.ZodType<T>, absent = ''): Promise<T> {
  const text = (await readText(request, SMALL_BODY_BYTES)) || absent;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal('invalid_request', `The body is not valid JSON: ${(error as Error).message}.`, { status: 400 });
  }
  return parseFields(schema, value, 422);
}

/** Check a value against a shape. @throws Refusal `invalid_request` naming every field. */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown, status: 400 | 422): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue): FieldError => ({
    field: issue.path.join('.'),
    reason: issue.message,
  }));
  const named = fields.map(({ field, reason }) => (field === '' ? reason : `${field}: ${reason}`)).join('; ');
  throw new Refusal('invalid_request', `The request is not valid. ${named}`, { details: { fields }, status });
}
