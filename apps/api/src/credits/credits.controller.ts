import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { CreditReads, monthSpan } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { pageQuery, presentPage } from '../endpoints/page-query';
import {
  presentBalance,
  presentStatement,
  presentTransaction,
  presentUsage,
  statementCsv,
  usageCsv,
} from './credits.presenter';
import { BalanceSchema, LedgerPageSchema, StatementSchema, UsageSchema } from './credits.schemas';
import { asCsv, wantsCsv } from './csv-answer';
import { PlatformDoor, type PlatformInput } from '../endpoints/platform-door';
import { usageQuery, usageSpan } from './usage-query';

const common = { tag: 'credits', scope: 'usage:read' } as const;

const getCredits = defineEndpoint({
  ...common,
  id: 'getCredits',
  method: 'get',
  path: '/platform/v1/credits',
  summary: 'Read the balance',
  description: 'What the account has. Nothing on the self-hosted surface, where nothing costs credits.',
  answer: { status: 200, description: 'The balance.', schema: BalanceSchema },
});

const listLedger = defineEndpoint({
  ...common,
  id: 'listLedger',
  method: 'get',
  path: '/platform/v1/credits/ledger',
  summary: 'Read the ledger',
  description: 'Every transaction of the account, the latest first. A transaction is never changed: it is corrected.',
  query: z.object(pageQuery),
  answer: { status: 200, description: 'A page of transactions.', schema: LedgerPageSchema },
  errors: ['invalid_cursor'],
});

const getUsage = defineEndpoint({
  ...common,
  id: 'getUsage',
  method: 'get',
  path: '/platform/v1/usage',
  summary: 'Read usage',
  description: 'What jobs were charged, by the time at which they ended. All times are UTC.',
  query: usageQuery,
  answer: {
    status: 200,
    description: 'Usage by group.',
    schema: UsageSchema,
    alternatives: {
      'text/csv': 'A row per group. Text that a spreadsheet would run as a formula begins with an apostrophe.',
    },
  },
});

const getStatement = defineEndpoint({
  ...common,
  id: 'getStatement',
  method: 'get',
  path: '/platform/v1/statements/{month}',
  patterns: { month: { pattern: /^\d{4}-(0[1-9]|1[0-2])$/, description: 'A month as `yyyy-mm`, UTC.' } },
  summary: 'Read the statement of a month',
  description: 'Opening balance, what came and went, closing balance. It adds up.',
  answer: {
    status: 200,
    description: 'The statement.',
    schema: StatementSchema,
    alternatives: { 'text/csv': 'A row per line of the statement.' },
  },
});

/** An account's credits, as its holder sees them. */
@Controller()
export class CreditsController {
  constructor(
    @Inject(PlatformDoor) readonly door: PlatformDoor,
    @Inject(CreditReads) private readonly reads: CreditReads,
  ) {}

  @Serves(getCredits)
  async balance({ caller }: PlatformInput<typeof getCredits>): Promise<object> {
    return presentBalance(await this.reads.balance(caller.accountId));
  }

  @Serves(listLedger)
  async ledger({ caller, query }: PlatformInput<typeof listLedger>): Promise<object> {
    return presentPage('transactions', await this.reads.ledgerPage(caller.accountId, query), presentTransaction);
  }

  @Serves(getUsage)
  async usage({ caller, query, request, response }: PlatformInput<typeof getUsage>): Promise<object | string> {
    const span = usageSpan(query);
    const report = await this.reads.usage(caller.accountId, span, query.group_by.grouping);
    const groupBy = query.group_by.text;
    if (wantsCsv(request)) return asCsv(response, usageCsv(report, groupBy));
    return presentUsage(report, { ...span, groupBy });
  }

  @Serves(getStatement)
  async statement({ caller, params, request, response }: PlatformInput<typeof getStatement>): Promise<object | string> {
    const span = monthSpan(params.month);
    if (span === null || span.from > new Date()) {
      throw new Refusal('not_found', `There is no statement for ${params.month}; a month that has begun has one.`);
    }
    const statement = await this.reads.statement(caller.accountId, span);
    if (wantsCsv(request)) return asCsv(response, statementCsv(params.month, statement));
    return presentStatement(params.month, statement);
  }
}
