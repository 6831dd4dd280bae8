import { Controller } from '@nestjs/common';
import { CreditReads, monthSpan } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { endHead, sendStream } from '../http';
import { OpenStreams, holderOf } from '../streams';
import { getCredits, getStatement, getUsage, listLedger } from './credits.endpoints';
import {
  presentBalance,
  presentStatement,
  presentTransaction,
  presentUsage,
  statementCsv,
  usageCsv,
} from './credits.presenter';
import { CSV_TYPE, asCsv, wantsCsv } from './csv-answer';
import { usageSpan } from './usage-query';

/** An account's credits, as its holder sees them. */
@Controller()
export class CreditsController {
  constructor(
    private readonly reads: CreditReads,
    private readonly open: OpenStreams,
  ) {}

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
  async usage(input: InputOf<typeof getUsage>): Promise<void> {
    const { visitor, query, request, response } = input;
    const span = usageSpan(query);
    const { grouping, text: groupBy } = query.group_by;
    if (!wantsCsv(request)) {
      const report = await this.reads.usage(visitor.caller, span, grouping);
      response.json(presentUsage(report, { ...span, groupBy }));
      return;
    }
    const headers = { 'Content-Type': CSV_TYPE };
    if (endHead(response, headers)) return;
    const parts = usageCsv(this.reads.usageGroups(visitor.caller, span, grouping), groupBy);
    const holder = holderOf(visitor.caller, null, getUsage.access.scope);
    await this.open.sending(response, holder, () => sendStream(response, { headers, parts }));
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
