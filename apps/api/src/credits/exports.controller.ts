import { createGzip } from 'node:zlib';
import { Controller } from '@nestjs/common';
import { DailyExports, type DailyExport, type Dataset } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { endHead, sendStream } from '../http';
import { OpenStreams, holderOf } from '../streams';
import { getLedgerExport, getUsageExport, listExports } from './exports.endpoints';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 92;

/** What the account used and how its credits moved, by day, for finance. */
@Controller()
export class ExportsController {
  constructor(
    private readonly exports: DailyExports,
    private readonly open: OpenStreams,
  ) {}

  @Serves(listExports)
  async list({ visitor, query }: InputOf<typeof listExports>): Promise<AnswerOf<typeof listExports>> {
    const to = query.to ?? new Date(Date.now() + DAY_MS);
    const from = query.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
    if (from >= to) throw Refusal.ofFields([{ field: 'from', reason: 'must be before `to`' }], 400);
    if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
      throw Refusal.ofFields([{ field: 'from', reason: `must be at most ${MAX_DAYS} days before \`to\`` }], 400);
    }
    const days = await this.exports.list(visitor.caller.accountId, from, to);
    return { exports: days.map((day) => presentDay(day, visitor.surface.origin)) };
  }

  @Serves(getUsageExport)
  async usage(input: InputOf<typeof getUsageExport>): Promise<void> {
    await this.send(input, 'usage');
  }

  @Serves(getLedgerExport)
  async ledger(input: InputOf<typeof getLedgerExport>): Promise<void> {
    await this.send(input, 'ledger');
  }

  /** An answer that breaks off is no whole gzip file, which its reader notices. */
  private async send(
    { visitor, params: { day }, response }: InputOf<typeof getUsageExport>,
    dataset: Dataset,
  ): Promise<void> {
    const headers = {
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="${dataset}-${day}.csv.gz"`,
    };
    const holder = holderOf(visitor.caller, null, getUsageExport.access.scope);
    // A place is taken when the turn has come: those that wait, perhaps for clients that are gone, hold none.
    await this.exports.send(visitor.caller.accountId, day, dataset, (parts) =>
      this.open.sending(response, holder, async () => {
        if (!endHead(response, headers)) await sendStream(response, { headers, parts, through: createGzip() });
      }),
    );
  }
}

function presentDay(
  { day, isComplete, usageRows, usageMicros, ledgerRows, ledgerMicros }: DailyExport,
  origin: string,
): AnswerOf<typeof listExports>['exports'][number] {
  const urlOf = (dataset: Dataset): string => `${origin}/platform/v1/exports/${day}/${dataset}.csv.gz`;
  return {
    day,
    complete: isComplete,
    usage: { rows: usageRows, charged_micros: Number(usageMicros), url: urlOf('usage') },
    ledger: { rows: ledgerRows, charged_micros: Number(ledgerMicros), url: urlOf('ledger') },
  };
}
