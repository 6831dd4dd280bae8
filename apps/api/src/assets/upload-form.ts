import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import { arrivingBytes, assertNotEncoded, confirmAccess, holdBytes } from '../http';
import { MultipartError, readMultipart } from './multipart';

/** Fields are names and hashes; no field of ours is larger. */
const LIMITS = { fieldBytes: 8_192, parts: 64 };
/** Fields, boundaries, and parts that are dropped. */
const AROUND_FILE_BYTES = 1_048_576;
const FIELDS = ['content_type', 'file_path', 'expected_hash', 'expires_in', 'tags'] as const;

/** The fields of a form that are known, as they were sent; the time is a number where it is written as one. */
type FormFields = {
  content_type?: string;
  file_path?: string;
  expected_hash?: string;
  expires_in?: number | string;
  tags?: string[];
};

/** A form that has been read to its end. */
export interface UploadForm<T> {
  fields: FormFields;
  /** What `takeFile` made of the file; null when the form had none. */
  file: T | null;
}

/**
 * Read a multipart upload as it arrives, its parts in any order (wire supplement, section 1). The file is handed on while it
 * comes in; nothing of it is kept here.
 *
 * @param maxBytes of the file; all else of the form, unknown parts included, may have a little more.
 * @param takeFile consumes the file; an error that it throws ends the reading.
 * @param dropFile undoes `takeFile` when the form turns out to be incomplete.
 * @throws Refusal `invalid_request`, 408 when the rest of it does not come; `unsupported_media_type`; 401 and 403 when the sender
 *   lost access while it sent; what `takeFile` throws.
 */
export async function readUploadForm<T>(
  request: IncomingMessage,
  maxBytes: number,
  takeFile: (file: Readable) => Promise<T>,
  dropFile: (taken: T) => Promise<void>,
): Promise<UploadForm<T>> {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    throw new Refusal('unsupported_media_type', 'Send the upload as multipart/form-data.');
  }
  assertNotEncoded(request.headers);
  const fields: FormFields = {};
  const files: Promise<T>[] = [];
  try {
    await readMultipart(contentType, arrivingBytes(request, maxBytes + AROUND_FILE_BYTES), LIMITS, {
      // Some clients send every part under a file name.
      isFile: (name, fileName) => name === 'file' || (fileName !== undefined && !isField(name)),
      field: (name, value) => {
        holdBytes(request, Buffer.byteLength(value));
        addField(fields, name, value);
      },
      file: (name, bytes) => {
        if (name !== 'file') return null;
        if (files.length > 0) throw new MultipartError('there is more than one part named file');
        files.push(takeFile(bytes));
        return files[0] ?? null;
      },
    });
    const [file] = files;
    const form = { fields, file: file === undefined ? null : await file };
    await confirmAccess(request);
    return form;
  } catch (error) {
    for (const file of files) void file.then(dropFile).catch(() => undefined);
    throw error instanceof MultipartError ? badForm(error.message) : error;
  }
}

function isField(name: string): name is keyof FormFields {
  return FIELDS.some((known) => known === name);
}

function addField(fields: FormFields, name: string, value: string): void {
  if (!isField(name)) return;
  // What the parser, or the sender before it, puts in place of what is no character.
  if (value.includes('\ufffd')) {
    const reason = 'has a character that is not valid UTF-8, or U+FFFD in its place';
    throw Refusal.ofFields([{ field: name, reason }], 400);
  }
  if (name === 'tags') (fields.tags ??= []).push(value);
  else if (name !== 'expires_in') fields[name] = value;
  else if (value !== '') fields.expires_in = /^\d{1,9}$/.test(value) ? Number(value) : value;
}

function badForm(reason: string): Refusal {
  return new Refusal('invalid_request', `The upload cannot be read: ${reason}.`, {
    status: 400,
    headers: { Connection: 'close' },
  });
}
