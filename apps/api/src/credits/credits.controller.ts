import { Controller } from '@nestjs/common';
import { CreditReads, monthSpan } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { getCredits, getStatement, getUsage, listLedger } from './credits.endpoints';
import {
  presentBalance,
  presentStatement,
  presentTransaction,
  presentUsage,
  statementCsv,
  usageCsv,
} from './credits.presenter';
import { asCsv, wantsCsv } from './csv-answer';
import { usageSpan } from './usage-query';

/** An account's credits, as its holder sees them. */
@Controller()
export class CreditsController {
  constructor(private readonly reads: CreditReads) {}

  @Serves(getCredits)
  async balance({ visitor }: InputOf<typeof getCredits>): Promise<AnswerOf<typeof getCredits>> {
    return presentBalance(await this.reads.balance(visitor.caller.accountId));
  }

  @Serves(listLedger)
  async ledger({ visitor, query }: InputOf<typeof listLedger>): Promise<AnswerOf<typeof listLedger>> {
    const page = await this.reads.ledgerPage(visitor.caller.accountId, query);
    return presentPage('transactions', page, presentTransaction);
  }

  @Serves(getUsage)
  async usage({ visitor, query, ...http }: InputOf<typeof getUsage>): Promise<AnswerOf<typeof getUsage>> {
    const span = usageSpan(query);
    const report = await this.reads.usage(visitor.caller, span, query.group_by.grouping);
    const groupBy = query.group_by.text;
    if (wantsCsv(http.request)) return asCsv(http.response, usageCsv(report, groupBy));
    return presentUsage(report, { ...span, groupBy });
  }

  @Serves(getStatement)
  async statement({
    visitor,
    params: { month },
    ...http
  }: InputOf<typeof getStatement>): Promise<AnswerOf<typeof getStatement>> {
    const span = monthSpan(month);
    if (span === null || span.from > new Date()) {
      throw new Refusal('not_found', `There is no statement for ${month}: the month has not begun.`);
    }
    const statement = await this.reads.statement(visitor.caller.accountId, span);
    if (wantsCsv(http.request)) return asCsv(http.response, statementCsv(month, statement));
    return presentStatement(month, statement);
  }
}
