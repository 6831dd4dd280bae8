import { z } from 'zod';
import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import { ErasurePageSchema, ErasureRequestSchema, ErasureSchema } from './erasure.schemas';

const common = { tag: 'privacy', access: { by: 'api_key', scope: 'keys:admin' } } as const;

/** How an archive is described, to accounts and operators alike. */
export const archive = {
  summary: 'Read all that the account has',
  description:
    'One ZIP stream, uncompressed: records as newline-delimited JSON, a file for each kind (jobs with their graphs, attempts and logs, ' +
    'batches, assets, models, keys without their secrets, usage, ledger, audit log, …), the outputs of ended jobs below `outputs/`, the list of them with ' +
    'their hashes, and at the end `manifest.json` with the SHA-256, size and number of records of each file. What changes while it is read may be in one ' +
    'file and not in another. Files that were uploaded are listed, and read by `getAssetContent`. An archive that breaks off cannot be opened.',
  answers: {
    200: {
      description: 'The archive.',
      content: { 'application/zip': { type: 'string', format: 'binary' } },
      headers: {
        'Content-Disposition': { description: 'A name for the file.', required: true, schema: { type: 'string' } },
      },
    },
  },
  raw: true,
} as const;

export const exportAccount = defineEndpoint({
  ...common,
  ...archive,
  description: `${archive.description} Beside \`keys:admin\` it takes \`jobs:read\`, \`assets:read\`, \`usage:read\` and \`webhooks:read\`.`,
  id: 'exportAccount',
  method: 'get',
  path: '/platform/v1/account/export',
  errors: ['rate_limited', 'too_many_streams'],
});

export const requestErasure = defineEndpoint({
  ...common,
  id: 'requestErasure',
  method: 'post',
  path: '/platform/v1/erasures',
  creates: '/platform/v1/erasures/{id}',
  summary: 'Ask for an erasure',
  description:
    'A job, all that carries a label, or the whole account is erased for good: graphs, outputs, uploads, logs, labels, messages to webhooks. Jobs ' +
    'that wait or run are canceled first. What was charged stays in the books, under a pseudonym. It is done in the background; read it to see how far it is. To ask again while it is not done ' +
    'changes nothing. A job or a label takes the scopes `jobs:write` and `assets:write` as well. The account is closed at once: its keys end, this one too. Sub-keys that carry the label end as well. ' +
    'The account is erased for owners alone, and API keys with all scopes.',
  body: ErasureRequestSchema,
  example: { subject: 'label', label: 'user', value: 'ada' },
  answers: { 202: { description: 'It was asked for, now or before.', schema: ErasureSchema } },
  errors: ['not_found'],
});

export const listErasures = defineEndpoint({
  ...common,
  id: 'listErasures',
  method: 'get',
  path: '/platform/v1/erasures',
  summary: 'List erasures',
  description: 'What the account asked to be erased, newest first.',
  query: z.object(pageQuery),
  answers: { 200: { description: 'A page of erasures.', schema: ErasurePageSchema } },
  errors: ['invalid_cursor'],
});

export const getErasure = defineEndpoint({
  ...common,
  id: 'getErasure',
  method: 'get',
  path: '/platform/v1/erasures/{id}',
  params: { id: recordId('erasure') },
  summary: 'Read an erasure',
  description: 'How far it is.',
  answers: { 200: { description: 'The erasure.', schema: ErasureSchema } },
});
