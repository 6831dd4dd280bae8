import { z } from 'zod';
import { BlobHashSchema, ResumableUploadSchema, TimestampSchema } from '@millrace/contracts';
import { MODEL_FORMATS, MODEL_KINDS, MODEL_STATES } from '@millrace/models';
import { pageQuery, pageSchema, recordName } from '../endpoints';

const URL_CHARACTERS = 2_048;
/** PostgreSQL stores no NUL, and nobody means a blank or a control character in a URL. */
const VISIBLE = /^[^\s\p{Cc}\p{Cf}]*$/u;
const VISIBLE_FAULT = 'must have no blanks and no control characters';

const folder = z.string().min(1).max(64).meta({
  description: "The engine's folder: `checkpoints`, `loras`, `vae`, `text_encoders`, `diffusion_models`, …",
});
const name = z.string().min(1).max(240).meta({
  description: 'Path below the folder, as loader nodes name it: `sdxl/base.safetensors`.',
});
const licence = recordName.nullable().default(null).meta({ description: 'The licence of the weights, as text.' });
const sourceUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .max(URL_CHARACTERS)
  .regex(VISIBLE, VISIBLE_FAULT)
  .nullable()
  .default(null);

export const ModelUploadSchema = z
  .object({
    folder,
    name,
    size_bytes: z.int().min(1).meta({ format: 'int64', description: 'Size of the whole file.' }),
    hash: z
      .string()
      .regex(/^blake3:[0-9a-fA-F]{64}$/, 'must be blake3: and 64 hexadecimal digits')
      .nullable()
      .default(null)
      .meta({ description: 'The hash that the content must have.' }),
    licence,
    source_url: sourceUrl.meta({ description: 'Where the weights are from.' }),
  })
  .meta({ id: 'ModelUpload', description: 'A model that is about to be uploaded.' });

export const ModelImportSchema = z
  .object({
    folder,
    name,
    url: z.string().min(1).max(URL_CHARACTERS).regex(VISIBLE, VISIBLE_FAULT).meta({
      description: 'A file at one of the hosts that the operator of the service allows, which answers range requests.',
    }),
    hash: z
      .string()
      .regex(/^(?:blake3|sha256):[0-9a-fA-F]{64}$/, 'must be blake3: or sha256: and 64 hexadecimal digits')
      .nullable()
      .default(null)
      .meta({ description: 'The hash that the content must have: `blake3:` or `sha256:` and 64 hexadecimal digits.' }),
    licence,
  })
  .meta({ id: 'ModelImport', description: 'A model that the service is to fetch.' });

const modelShape = {
  id: z.uuid(),
  folder: z.string(),
  name: z.string(),
  shared: z.boolean().meta({ description: 'The operator of the service lets every account use it.' }),
  state: z.enum(MODEL_STATES),
  problem: z.string().nullable().meta({ description: 'Why it failed; null unless it has.' }),
  format: z.enum(MODEL_FORMATS),
  kind: z.enum(MODEL_KINDS).nullable().meta({ description: 'What its header says it is; null where that is unknown.' }),
  architecture: z.string().nullable().meta({ description: 'As its header names it. Untrusted: render as plain text.' }),
  parameters: z.int().nullable().meta({ format: 'int64', description: 'Numbers in all its tensors.' }),
  size_bytes: z.int().nullable().meta({ format: 'int64', description: 'Null while an import has not asked.' }),
  received_bytes: z.int().meta({ format: 'int64', description: 'Of an import: bytes that have arrived.' }),
  hash: BlobHashSchema.nullable().meta({ description: 'Null until it is ready.' }),
  licence: z.string().nullable(),
  source_url: z
    .string()
    .nullable()
    .meta({ description: 'Where the weights are from. Others than its account see it without its query.' }),
  created_at: TimestampSchema,
  last_used_at: TimestampSchema.nullable().meta({ description: 'Within an hour; null: never.' }),
};

export const ModelSchema = z
  .object({
    ...modelShape,
    upload: ResumableUploadSchema.optional().meta({
      description: 'While it is uploaded, in answers about this model alone: its parts, and where to send them.',
    }),
  })
  .meta({ id: 'Model', description: 'A file of weights in the library.' });
export const ModelPageSchema = pageSchema('models', ModelSchema, 'ModelPage');

export const OperatedModelSchema = z
  .object({ ...modelShape, account_id: z.uuid() })
  .meta({ id: 'OperatedModel', description: 'A file of weights in the library of an account.' });
export const OperatedModelPageSchema = pageSchema('models', OperatedModelSchema, 'OperatedModelPage');

export const ModelQuery = z.object({
  ...pageQuery,
  folder: z
    .string()
    .max(64)
    .regex(VISIBLE, VISIBLE_FAULT)
    .optional()
    .meta({ description: 'Only models in this folder.' }),
  shared: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'true: only models that every account may use; false: only the others.' }),
});
