import { z } from 'zod';
import { dayOrTime, defineEndpoint, pathText } from '../endpoints';

const reads = { method: 'get', tag: 'credits', access: { by: 'api_key', scope: 'usage:read' } } as const;
const params = { day: pathText('A day as `yyyy-mm-dd`, UTC.', /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/) };
const gzip = (description: string) => ({
  200: {
    description,
    content: { 'application/gzip': { type: 'string', format: 'binary', description: 'CSV (RFC 4180), gzip.' } },
  },
});

const DailyExportSchema = z
  .object({
    day: z.string().meta({ description: 'UTC.' }),
    complete: z.boolean().meta({ description: 'Its files can be read, and never change.' }),
    usage: z.object({ rows: z.int(), charged_micros: z.int(), url: z.string() }),
    ledger: z.object({
      rows: z.int(),
      charged_micros: z.int().meta({ description: 'What its settlements charged: the same as in `usage`.' }),
      url: z.string(),
    }),
  })
  .meta({ id: 'DailyExport', description: 'The files of a day, and what they add up to.' });

const exportsQuery = z.object({
  from: dayOrTime.optional().meta({ description: 'From this day on; 30 days before `to` by default.' }),
  to: dayOrTime.optional().meta({ description: 'Up to this day, which is not included; tomorrow by default.' }),
});

export const listExports = defineEndpoint({
  ...reads,
  id: 'listExports',
  path: '/platform/v1/exports',
  summary: 'List daily exports',
  description:
    'Days of usage and of the ledger, the latest first, at most 92. A day can be read ten minutes after it has ended (UTC). Days with more than can be summed in ' +
    'time are refused (400): ask for fewer of them.',
  query: exportsQuery,
  answers: {
    200: {
      description: 'The days.',
      schema: z
        .object({ exports: z.array(DailyExportSchema) })
        .meta({ id: 'DailyExportList', description: 'The latest first.' }),
    },
  },
});

export const getUsageExport = defineEndpoint({
  ...reads,
  id: 'getUsageExport',
  path: '/platform/v1/exports/{day}/usage.csv.gz',
  params,
  summary: 'Download the usage of a day',
  description:
    'A row for each job that ended on the day, in the columns of FOCUS 1.2; those that begin with `x_` are our own. Costs are in credits, exact ' +
    'to the micro-credit.',
  answers: gzip('The file.'),
  raw: true,
  errors: ['too_many_streams'],
});

export const getLedgerExport = defineEndpoint({
  ...reads,
  id: 'getLedgerExport',
  path: '/platform/v1/exports/{day}/ledger.csv.gz',
  params,
  summary: 'Download the ledger of a day',
  description: 'A row for each transaction of the account on the day, in the order of time.',
  answers: gzip('The file.'),
  raw: true,
  errors: ['too_many_streams'],
});
