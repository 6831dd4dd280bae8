import { defineEndpoint, pathText, recordId } from '../endpoints';
import { ExportDeliveryPageSchema, ExportDeliveryQuery, ExportDeliverySchema } from './export-destination.schemas';
import { NEEDS_EXPORTED } from './exported-scope';

const reads = { method: 'get', tag: 'credits', access: { by: 'api_key', scope: 'usage:read' } } as const;

export const listExportDeliveries = defineEndpoint({
  ...reads,
  id: 'listExportDeliveries',
  path: '/platform/v1/export-deliveries',
  query: ExportDeliveryQuery,
  summary: 'List deliveries of daily exports',
  description:
    'Days that were written and those that wait, newest first, each with its attempts. They are kept for 400 days.',
  answers: { 200: { description: 'A page of deliveries.', schema: ExportDeliveryPageSchema } },
  errors: ['invalid_cursor'],
});

export const getExportDelivery = defineEndpoint({
  ...reads,
  id: 'getExportDelivery',
  path: '/platform/v1/export-deliveries/{id}',
  params: { id: recordId('export delivery') },
  summary: 'Read a delivery of a daily export',
  description: 'What came of it, with its attempts.',
  answers: { 200: { description: 'The delivery.', schema: ExportDeliverySchema } },
});

export const deliverExport = defineEndpoint({
  id: 'deliverExport',
  quota: 'sends',
  method: 'post',
  path: '/platform/v1/exports/{day}/deliver',
  params: { day: pathText('A day as `yyyy-mm-dd`, UTC.', /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/) },
  tag: 'credits',
  access: { by: 'api_key', scope: 'keys:admin' },
  summary: 'Have a day written to the destination',
  description:
    'A day before the destination was set, or one that was written already: its files are replaced by the same ones. ' +
    NEEDS_EXPORTED,
  answers: { 201: { description: 'The delivery; it is tried within some seconds.', schema: ExportDeliverySchema } },
  errors: ['not_found'],
});
