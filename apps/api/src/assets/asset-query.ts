import { z } from 'zod';
import { ASSET_KINDS } from '@millrace/assets';
import { dayOrTime, pageQuery } from '../endpoints';

/** The query of a list of assets. Unknown parameters are ignored. */
export const assetQuery = z.object({
  ...pageQuery,
  kind: z
    .enum(ASSET_KINDS, `must be one of ${ASSET_KINDS.join(', ')}`)
    .default('upload')
    .meta({ description: '`upload`: what the account uploaded. `output`: what its jobs made.' }),
  content_type: z
    .string('must be given once')
    .min(1)
    .max(255)
    .optional()
    .transform((prefix) => prefix?.toLowerCase())
    .meta({ description: 'Only assets whose content type begins so, e.g. `image/`.' }),
  created_after: dayOrTime.optional().meta({ description: 'Only assets that were made at this time or later.' }),
  created_before: dayOrTime.optional().meta({ description: 'Only assets that were made before this time.' }),
});
