import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { beginningOf } from '@millrace/contracts';

/** How much of a form is taken. */
export interface MultipartLimits {
  /** Bytes of one field's value. */
  fieldBytes: number;
  /** Parts of the form, fields and files together. */
  parts: number;
}

/** What takes the parts of a form, in the order in which they come. A part that names no field has the name `''`. */
export interface MultipartSink {
  /** Whether a part is read as a file, in pieces, or whole as a field. */
  isFile(name: string, fileName: string | undefined): boolean;
  field(name: string, value: string): void;
  /**
   * Consume the bytes of a file as they arrive; null drops them. The form is read when all of them have been consumed; a
   * rejection ends the reading. When the form breaks, the stream fails with the error that `readMultipart` throws.
   */
  file(name: string, bytes: Readable): Promise<unknown> | null;
}

/** A form that cannot be read; the message says why, for its sender. */
export class MultipartError extends Error {}

/**
 * Read a multipart form (RFC 7578) from its bytes, in bounded memory.
 *
 * The parser reports by events, some of them later than the bytes that caused them. None of that leaves this function:
 * every failure, wherever it happens, becomes what it throws, and nothing is emitted or thrown once it has settled.
 *
 * @param contentType the Content-Type of the form, with its boundary.
 * @param body pulled chunk by chunk, each when the one before was taken; what it throws ends the reading.
 * @throws MultipartError; what `body` or the promise of a file throws.
 */
export async function readMultipart(
  contentType: string,
  body: AsyncIterable<Buffer>,
  limits: MultipartLimits,
  sink: MultipartSink,
): Promise<void> {
  const reading = new Reading(open(contentType, limits, sink), limits, sink);
  try {
    for await (const chunk of body) await reading.write(chunk);
    await reading.end();
  } catch (error) {
    reading.fail(error);
    throw error;
  }
}

/** @throws MultipartError. */
function open(contentType: string, { fieldBytes, parts }: MultipartLimits, sink: MultipartSink): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: fieldBytes, fields: parts, files: parts, parts },
      isPartAFile: (name, _type, fileName) => sink.isFile(name ?? '', fileName),
    });
  } catch {
    throw new MultipartError('the Content-Type names no usable boundary');
  }
}

class Reading {
  private failure: { error: unknown } | undefined;
  private finished = false;
  /** Settles the step that is being waited for. */
  private conclude: (() => void) | undefined;
  /** Files that have not ended. */
  private readonly open = new Set<Readable>();
  private readonly takings: Promise<unknown>[] = [];

  constructor(
    private readonly form: BusboyInstance,
    { fieldBytes, parts }: MultipartLimits,
    private readonly sink: MultipartSink,
  ) {
    form.on('field', (name: string | undefined, value, nameCut, valueCut) =>
      this.guarded(() => {
        if (nameCut || valueCut) throw new MultipartError(`${described(name)} is longer than ${fieldBytes} bytes`);
        this.sink.field(name ?? '', value);
      }),
    );
    form.on('file', (name: string | undefined, bytes) => this.guarded(() => this.take(name ?? '', bytes)));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      form.on(limit, () => this.fail(new MultipartError(`there are more than ${parts} parts`)));
    }
    form.on('error', () => this.fail(malformed()));
    form.on('finish', () => {
      this.finished = true;
      this.conclude?.();
    });
  }

  /** Resolves when the parser has taken the bytes and wants more. */
  async write(chunk: Buffer): Promise<void> {
    await this.step((taken) => void this.form.write(chunk, taken));
  }

  /** Resolves when every part has been handed to the sink, and every file consumed. */
  async end(): Promise<void> {
    await this.step(() => void this.form.end());
    await Promise.all(this.takings);
  }

  /** The first failure is the one that counts. Files under way fail with it. */
  fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = { error };
    for (const bytes of this.open) bytes.destroy(error as Error);
    this.conclude?.();
  }

  private take(name: string, bytes: Readable): void {
    // A part that is cut off makes its stream fail, whether or not anybody reads it.
    bytes.on('error', () => undefined);
    this.open.add(bytes);
    bytes.once('close', () => this.open.delete(bytes));
    const taking = this.sink.file(name, bytes);
    if (taking === null) {
      bytes.resume();
      return;
    }
    this.takings.push(taking);
    taking.catch((error: unknown) => this.fail(error));
  }

  /** Run what the parser calls: an error thrown into the parser would surface wherever the parser happens to be called. */
  private guarded(handle: () => void): void {
    if (this.failure !== undefined) return;
    try {
      handle();
    } catch (error) {
      this.fail(error);
    }
  }

  private async step(begin: (done: () => void) => void): Promise<void> {
    if (this.failure === undefined && !this.finished) {
      await new Promise<void>((resolve) => {
        this.conclude = resolve;
        try {
          begin(resolve);
        } catch {
          this.fail(malformed());
        }
      });
      this.conclude = undefined;
    }
    if (this.failure !== undefined) throw this.failure.error;
  }
}

function malformed(): MultipartError {
  return new MultipartError('the body is not well-formed multipart');
}

function described(name: string | undefined): string {
  return name ? `the field ${beginningOf(name, 40)}` : 'a field without a name';
}
