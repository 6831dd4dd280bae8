import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { z } from 'zod';
import { Refusal, type FieldError } from '@millrace/contracts';
import { GatheredBytes, assertFewPieces, dropRest } from '@millrace/platform';
import { confirmAccess } from './confirm-access';
import { reasonOf } from './field-reason';
import { heldBytesOf } from './hold-bytes';
import { countValues } from './count-values';
import { unstorableFields } from './storable-texts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A client that sends nothing of its body for this long is refused, so that it does not hold the connection. */
const SILENCE_MS = 20_000;
/** And the whole body has to arrive in this time: 10 MiB at 700 kbit/s. */
const DEADLINE_MS = 120_000;

/**
 * Read a request's body as text.
 *
 * @throws Refusal 413, 415, 408 when the rest of it does not come, or 400 when the bytes are not UTF-8.
 */
export async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid UTF-8.', { status: 400 });
  }
}

/**
 * Read a request's JSON body as the bytes that came. They count as in flight from when they arrive until the request is answered: what
 * is only declared takes no memory, and would keep others out for as long as its sender likes. A length for which there is no room now is
 * refused before it is sent.
 *
 * @param deadlineMs by when all of it must be there.
 * @throws Refusal 413, 415, 408 when the rest of it does not come, 429 while too many bytes are in flight, or 401 and 403 when
 * the sender lost access while it sent.
 */
export async function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  { deadlineMs = DEADLINE_MS } = {},
): Promise<Buffer> {
  assertJson(request.headers);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw tooLarge(request, maxBytes);
  if (declared > 0) orDrop(request, () => heldBytesOf(request).assertFits(declared));
  const bytes = await gather(request, { maxBytes, deadlineMs });
  await confirmAccess(request);
  return bytes.whole();
}

/** @throws what `act` throws; the rest of the body is dropped. */
function orDrop(request: IncomingMessage, act: () => void): void {
  try {
    act();
  } catch (error) {
    dropRest(request);
    throw error;
  }
}

/** How much of a body is read, and for how long. */
interface Reading {
  maxBytes: number;
  deadlineMs: number;
}

/** By events: an iterator that is left early would cut the connection before the answer. */
function gather(request: IncomingMessage, { maxBytes, deadlineMs }: Reading): Promise<GatheredBytes> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) throw broken('broke off', 400);
    const bytes = new GatheredBytes();
    let [size, held] = [0, 0];
    const fail = (error: Error): void => settle(() => reject(error));
    const onLate = (): void => fail(broken('did not arrive in time', 408));
    const timers = [setTimeout(onLate, SILENCE_MS), setTimeout(onLate, deadlineMs)] as const;
    const onData = (chunk: Buffer): void => {
      timers[0].refresh();
      size += chunk.length;
      if (size > maxBytes) return fail(tooLarge(request, maxBytes));
      const more = bytes.add(chunk);
      const admit = (): void => {
        assertFewPieces(request);
        if (more > 0) heldBytesOf(request).take(more, held);
        held += more;
      };
      tryTo(() => orDrop(request, admit), fail);
    };
    const onEnd = (): void => settle(() => resolve(bytes));
    const onBreak = (): void => fail(broken('broke off', 400));
    const settle = (conclude: () => void): void => {
      for (const timer of timers) clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onBreak);
      conclude();
    };
    request.on('data', onData).on('end', onEnd).on('close', onBreak).on('error', onBreak);
  });
}

/** What is thrown in a listener would reach nobody. */
function tryTo(act: () => void, fail: (error: Error) => void): void {
  try {
    act();
  } catch (error) {
    fail(error as Error);
  }
}

function broken(what: string, status: 400 | 408): Refusal {
  return new Refusal('invalid_request', `The body ${what}.`, { status, headers: { Connection: 'close' } });
}

function assertJson(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) {
    throw new Refusal('unsupported_media_type', 'Send the body as application/json.');
  }
  assertNotEncoded(headers);
}

/** No body is decoded: one that is encoded would be read, or kept, as what it is not. @throws Refusal `unsupported_media_type`. */
export function assertNotEncoded(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new Refusal('unsupported_media_type', 'Send the body without a content encoding.');
}

function tooLarge(request: IncomingMessage, maxBytes: number): Refusal {
  dropRest(request);
  return largerThan(maxBytes);
}

/** How a body is refused that has more bytes than it may have. */
export function largerThan(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', `The body is larger than ${maxBytes} bytes, which is the limit.`);
}

/** The most that a JSON body of a known shape has, where its endpoint says nothing else. */
export const SMALL_BODY_BYTES = 65_536;
/** Of a body whose fields its handler reads itself. */
export const JSON_OBJECT = z.record(z.string(), z.unknown());
/** Each may be a fault that is built and named: far more than any request of a known shape has. */
const SMALL_BODY_VALUES = 10_000;

/**
 * Read a small JSON body of a known shape.
 *
 * @param absent text that stands for a body that was not sent.
 * @param maxBytes the most that it may have.
 * @returns its value, and the text in which its numbers have all their digits.
 * @throws Refusal.
 */
export async function readJson<T>(
  request: IncomingMessage,
  schema: z.ZodType<T>,
  absent = '',
  maxBytes = SMALL_BODY_BYTES,
): Promise<{ body: T; text: string }> {
  const text = (await readText(request, maxBytes)) || absent;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal('invalid_request', `The body is not valid JSON: ${(error as Error).message}.`, { status: 400 });
  }
  if (countValues(value, SMALL_BODY_VALUES) > SMALL_BODY_VALUES) throw tooManyValues();
  return { body: parseFields(schema, value, 422), text };
}

function tooManyValues(): Refusal {
  const message = `The body holds more than ${SMALL_BODY_VALUES} JSON values, which is the limit here.`;
  return new Refusal('invalid_request', message, { status: 400 });
}

/**
 * Check a value against a shape, and that what is read of it can be stored.
 *
 * @param whole what a fault of no field is of.
 * @throws Refusal `invalid_request` naming every field.
 */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown, status: 400 | 422, whole = 'the body'): T {
  const parsed = schema.safeParse(value, { error: (issue) => reasonOf(issue, whole) });
  const fields = parsed.success
    ? unstorableFields(parsed.data)
    : parsed.error.issues.map((issue): FieldError => ({ field: issue.path.join('.'), reason: issue.message }));
  if (!parsed.success || fields.length > 0) throw Refusal.ofFields(fields, status);
  return parsed.data;
}
