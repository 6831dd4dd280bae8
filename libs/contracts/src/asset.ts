import { z } from 'zod';
import { boundedList } from './bounded-list';
import { BlobHashSchema } from './hash';
import { TimestampSchema } from './ids';

/** Bounds of `expires_in` in seconds (wire supplement, section 1): one minute to seven days. */
export const EXPIRES_IN_SECONDS = { min: 60, max: 604_800 } as const;

export const AssetSchema = z
  .object({
    id: z.uuid(),
    hash: BlobHashSchema.nullable(),
    size_bytes: z.int().min(0).meta({ format: 'int64' }),
    content_type: z.string(),
    file_path: z.string().nullable().optional(),
    created_new: z.boolean().optional().meta({
      description:
        'In answers that create an asset: whether the account did not have these bytes before. Never true of one made from a hash.',
    }),
    created_at: TimestampSchema,
    url: z.url().meta({ description: 'Download link, valid until `url_expires_at`; every answer has a fresh one.' }),
    url_expires_at: TimestampSchema,
    expires_at: TimestampSchema.nullable().meta({ description: 'null: never.' }),
    tags: z.array(z.string()),
    job_id: z.uuid().optional().meta({ description: 'The job that produced it; absent for uploads.' }),
  })
  .meta({ id: 'Asset', description: 'A record over an immutable, content-addressed blob.' });
export type Asset = z.infer<typeof AssetSchema>;

export const AssetPageSchema = z
  .object({
    assets: z.array(AssetSchema.omit({ created_new: true }).meta({ id: 'AssetListItem' })),
    next_cursor: z.string().optional(),
  })
  .meta({ id: 'AssetPage', description: 'Newest first. `next_cursor` is absent on the last page.' });
export type AssetPage = z.infer<typeof AssetPageSchema>;

const ExpiresInSchema = z
  .int()
  .min(EXPIRES_IN_SECONDS.min)
  .max(EXPIRES_IN_SECONDS.max)
  .meta({ description: 'Seconds until the asset expires.' });

/** Bounds of the tags of an asset, and of those that a request sends, repeated ones included; characters are UTF-16 code units. */
export const TAG_LIMITS = { count: 32, length: 128, sent: 128 } as const;

/** Requests are described here, and read where forms and JSON meet (`libs/assets`), so that both get the same messages. */
const tag = z.string().meta({ minLength: 1, maxLength: TAG_LIMITS.length });
const Tags = boundedList(tag, { max: TAG_LIMITS.sent }).meta({
  maxItems: TAG_LIMITS.count,
  description: 'Your own words to find assets by. Repeated ones count once.',
});
const HashText = z.string().meta({ pattern: '^[bB][lL][aA][kK][eE]3:[0-9A-Fa-f]{64}$' });

export const AssetFromHashRequestSchema = z
  .object({
    hash: HashText.meta({ description: '`blake3:` and 64 hexadecimal digits, in either case.' }),
    file_path: z.string().optional().meta({ description: 'Relative path or file name, e.g. `photo.png`.' }),
    tags: Tags.optional(),
    expires_in: ExpiresInSchema.optional(),
  })
  .meta({ id: 'AssetFromHashRequest' });

/** Parts of an upload form, in any order. For the description only: the form is read as a stream, without this schema. */
export const AssetUploadFormSchema = z
  .object({
    content_type: z.string().meta({ description: 'Media type of the bytes, e.g. `image/png`.' }),
    file_path: z.string().meta({ description: 'Relative path or file name, e.g. `photo.png`.' }),
    expected_hash: HashText.optional().meta({ description: 'Refuse the upload unless its bytes have this hash.' }),
    tags: Tags.optional(),
    expires_in: ExpiresInSchema.optional(),
    file: z.string().meta({ format: 'binary', description: 'The bytes.' }),
  })
  .meta({ id: 'AssetUploadForm' });

/** A large file, to be sent in parts. Additive to the contract. */
export const ResumableUploadRequestSchema = z
  .object({
    size_bytes: z.int().min(1).meta({ format: 'int64', description: 'Size of the whole file.' }),
    content_type: z.string().meta({ description: 'Media type of the bytes, e.g. `video/mp4`.' }),
    file_path: z.string().meta({ description: 'Relative path or file name, e.g. `film.mp4`.' }),
    expected_hash: HashText.optional().meta({ description: 'Refuse the upload unless its bytes have this hash.' }),
    tags: Tags.optional(),
    expires_in: ExpiresInSchema.optional(),
  })
  .meta({ id: 'ResumableUploadRequest' });

const ResumablePartSchema = z
  .object({
    number: z.int().min(1),
    size_bytes: z.int().min(1).meta({ format: 'int64', description: 'Exact size of this part.' }),
    received: z.boolean().meta({ description: 'Whether it has arrived; sending it again replaces it.' }),
    url: z
      .url()
      .nullable()
      .meta({ description: 'Where to PUT its bytes, without a credential; null once it has arrived.' }),
  })
  .meta({ id: 'ResumablePart' });

export const ResumableUploadSchema = z
  .object({
    id: z.uuid(),
    size_bytes: z.int().min(1).meta({ format: 'int64' }),
    expected_hash: BlobHashSchema.nullable().meta({
      description: 'The hash that was announced: go on with the file that has it. null: none was.',
    }),
    part_size_bytes: z.int().min(1).meta({ description: 'Size of every part but the last.' }),
    parts: z.array(ResumablePartSchema),
    url_expires_at: TimestampSchema.meta({ description: 'Read the upload again for fresh links.' }),
    created_at: TimestampSchema,
    expires_at: TimestampSchema.meta({ description: 'An upload that is not completed by then is dropped.' }),
    urls: z.object({
      self: z.string().meta({ format: 'uri-reference' }),
      complete: z.string().meta({ format: 'uri-reference' }),
    }),
  })
  .meta({ id: 'ResumableUpload', description: 'An upload of a large file in parts.' });
export type ResumableUploadView = z.infer<typeof ResumableUploadSchema>;
