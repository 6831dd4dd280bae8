import { defineEndpoint } from '../endpoints';
import {
  ExportDeliverySchema,
  ExportDestinationPatchSchema,
  ExportDestinationPutSchema,
  ExportDestinationSchema,
} from './export-destination.schemas';
import { NEEDS_EXPORTED } from './exported-scope';

const path = '/platform/v1/export-destination';
const writes = { tag: 'credits', access: { by: 'api_key', scope: 'keys:admin' }, path } as const;

export const getExportDestination = defineEndpoint({
  id: 'getExportDestination',
  method: 'get',
  path,
  tag: 'credits',
  access: { by: 'api_key', scope: 'usage:read' },
  summary: 'Read where daily exports are written',
  description: 'The bucket, and whether files are written to it. 404 where none was set.',
  answers: { 200: { description: 'The destination.', schema: ExportDestinationSchema } },
  errors: ['not_found'],
});

export const putExportDestination = defineEndpoint({
  ...writes,
  id: 'putExportDestination',
  method: 'put',
  summary: 'Have daily exports written to a bucket',
  description:
    'Each day (UTC) is written within minutes after it is complete: `<prefix>usage/<day>.csv.gz`, `<prefix>ledger/<day>.csv.gz`, and last ' +
    '`<prefix>manifest/<day>.json` with rows, amounts and SHA-256 of both. The first is the last complete day. What was set before is replaced, ' +
    `and days that wait go to the new place. ${NEEDS_EXPORTED}`,
  body: ExportDestinationPutSchema,
  example: {
    bucket: 'acme-finance',
    region: 'eu-central-1',
    access_key_id: 'AKIAEXAMPLE',
    secret_access_key: 'example-secret',
    prefix: 'millrace/',
  },
  answers: { 200: { description: 'The destination as it is now.', schema: ExportDestinationSchema } },
});

export const patchExportDestination = defineEndpoint({
  ...writes,
  id: 'patchExportDestination',
  method: 'patch',
  summary: 'Stop or resume the delivery of daily exports',
  description: `One that was disabled because it failed is enabled like this when the bucket is well. ${NEEDS_EXPORTED}`,
  body: ExportDestinationPatchSchema,
  answers: { 200: { description: 'The destination as it is now.', schema: ExportDestinationSchema } },
  errors: ['not_found'],
});

export const deleteExportDestination = defineEndpoint({
  ...writes,
  id: 'deleteExportDestination',
  method: 'delete',
  summary: 'Remove the destination of daily exports',
  description: 'Its credentials are deleted, and nothing more is written. What was written stays where it is.',
  answers: { 204: { description: 'The destination is removed.' } },
  errors: ['not_found'],
});

export const testExportDestination = defineEndpoint({
  ...writes,
  id: 'testExportDestination',
  quota: 'sends',
  method: 'post',
  path: '/platform/v1/export-destination/test',
  summary: 'Test the destination of daily exports',
  description:
    'Writes `<prefix>test.txt`, once. Ask for the delivery until it is `delivered`, or `failed` with the reason in `attempts`. ' +
    NEEDS_EXPORTED,
  answers: { 201: { description: 'The delivery; it is tried within some seconds.', schema: ExportDeliverySchema } },
  errors: ['not_found'],
});
