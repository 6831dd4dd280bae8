import { z } from 'zod';
import { defineEndpoint, pageQuery, pathText } from '../endpoints';
import { BalanceSchema, LedgerPageSchema, StatementSchema, UsageSchema } from './credits.schemas';
import { usageQuery } from './usage-query';

const common = { method: 'get', tag: 'credits', access: { by: 'api_key', scope: 'usage:read' } } as const;

export const getCredits = defineEndpoint({
  ...common,
  id: 'getCredits',
  path: '/platform/v1/credits',
  summary: 'Read the balance',
  description: 'The credits of the account. Zero on the self-hosted surface, where nothing costs credits.',
  answers: { 200: { description: 'The balance.', schema: BalanceSchema } },
});

export const listLedger = defineEndpoint({
  ...common,
  id: 'listLedger',
  path: '/platform/v1/credits/ledger',
  summary: 'Read the ledger',
  description: 'Every transaction of the account, newest first. A transaction is never changed: it is corrected.',
  query: z.object(pageQuery),
  answers: { 200: { description: 'A page of transactions.', schema: LedgerPageSchema } },
  errors: ['invalid_cursor'],
});

export const getUsage = defineEndpoint({
  ...common,
  access: { ...common.access, subKeys: true },
  id: 'getUsage',
  path: '/platform/v1/usage',
  summary: 'Read usage',
  description:
    'What jobs were charged, by the time at which they ended. All times are UTC. A key with labels sees that of jobs with its labels. JSON has at most ' +
    '10,000 groups, those that were charged most; CSV has all of them. A span with more jobs than can be summed in time is refused (400): ask for parts of it.',
  query: usageQuery,
  raw: true,
  errors: ['too_many_streams'],
  answers: {
    200: {
      description: 'Usage by group.',
      schema: UsageSchema,
      content: {
        'text/csv': {
          type: 'string',
          description:
            'A row per group, however many they are, in the order of their names. Text that a spreadsheet would run as a formula begins with an apostrophe.',
        },
      },
    },
  },
});

export const getStatement = defineEndpoint({
  ...common,
  id: 'getStatement',
  path: '/platform/v1/statements/{month}',
  params: { month: pathText('A month as `yyyy-mm`, UTC.', /^\d{4}-(0[1-9]|1[0-2])$/) },
  summary: 'Read the statement of a month',
  description: 'Opening balance, all movements, closing balance. They add up.',
  answers: {
    200: {
      description: 'The statement.',
      schema: StatementSchema,
      content: { 'text/csv': { type: 'string', description: 'A row per line of the statement.' } },
    },
  },
});
