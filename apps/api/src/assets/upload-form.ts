import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { RawUploadFields } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { SILENCE_MS, dropRest, lateUpload } from './arriving-bytes';

/** Fields are names and hashes; a larger one is no field of ours. */
const FIELD_BYTES = 8_192;
const MAX_PARTS = 64;
const SINGLE_FIELDS = ['content_type', 'file_path', 'expected_hash', 'expires_in'] as const;

/** A form whose every part has been read. */
export interface UploadForm<T> {
  fields: RawUploadFields;
  /** What `takeFile` made of the file; null when the form had none. */
  file: T | null;
}

/**
 * Read a multipart upload as it arrives, its parts in any order (wire supplement, section 1). The file is handed on while it
 * comes in; nothing of it is kept here.
 *
 * @param takeFile consumes the file; what it throws ends the reading.
 * @param dropFile undoes `takeFile` when the form turns out not to be whole after all.
 * @throws Refusal `invalid_request`, 408 when the rest of it does not come; `unsupported_media_type`; whatever `takeFile`
 *   throws.
 */
export async function readUploadForm<T>(
  request: IncomingMessage,
  takeFile: (file: Readable) => Promise<T>,
  dropFile: (taken: T) => Promise<void>,
): Promise<UploadForm<T>> {
  const form = openForm(request);
  const fields: RawUploadFields = {};
  // Set by the reading below, if there is a file; an object, so that the compiler believes it.
  const file: { source?: Readable; taking?: Promise<T> } = {};
  let silence: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      form.on('field', (name, value, nameCut, valueCut) => {
        if (nameCut || valueCut) reject(badForm(`the field ${name.slice(0, 40)} is longer than ${FIELD_BYTES} bytes`));
        else addField(fields, name, value);
      });
      form.on('file', (name, stream) => {
        if (name !== 'file' || file.source !== undefined) {
          stream.resume();
          if (name === 'file') reject(badForm('there is more than one part named file'));
          return;
        }
        file.source = stream;
        file.taking = takeFile(stream);
        file.taking.catch(reject);
      });
      form.on('partsLimit', () => reject(badForm(`there are more than ${MAX_PARTS} parts`)));
      form.on('fieldsLimit', () => reject(badForm(`there are more than ${MAX_PARTS} fields`)));
      form.on('error', () => reject(badForm('the body is not well-formed multipart')));
      form.on('finish', resolve);
      request.on('close', () => {
        if (!request.complete) reject(badForm('the upload broke off'));
      });
      silence = setTimeout(() => reject(lateUpload()), SILENCE_MS);
      request.on('data', () => silence?.refresh());
      request.pipe(form);
    });
    clearTimeout(silence);
    return { fields, file: file.taking === undefined ? null : await file.taking };
  } catch (error) {
    clearTimeout(silence);
    silence = undefined;
    request.unpipe(form);
    file.source?.destroy(new Error('the upload cannot be read'));
    dropRest(request);
    void file.taking?.then(dropFile, () => undefined);
    throw error;
  }
}

function openForm(request: IncomingMessage): BusboyInstance {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    throw new Refusal('unsupported_media_type', 'Send the upload as multipart/form-data.');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: { fieldSize: FIELD_BYTES, fields: MAX_PARTS, parts: MAX_PARTS },
      // Some clients send every part under a file name.
      isPartAFile: (name, _type, fileName) => name === 'file' || (fileName !== undefined && !isField(name)),
    });
  } catch {
    throw new Refusal('invalid_request', 'The Content-Type of the upload names no usable boundary.', { status: 400 });
  }
}

function isField(name: string | undefined): boolean {
  return name === 'tags' || SINGLE_FIELDS.some((known) => known === name);
}

function addField(fields: RawUploadFields, name: string, value: string): void {
  if (name === 'tags') (fields.tags ??= []).push(value);
  const single = SINGLE_FIELDS.find((known) => known === name);
  if (single !== undefined) fields[single] = value;
}

function badForm(reason: string): Refusal {
  return new Refusal('invalid_request', `The upload cannot be read: ${reason}.`, {
    status: 400,
    headers: { Connection: 'close' },
  });
}
