import { z } from 'zod';
import { LEDGER_KINDS } from '@millrace/billing';
import { TimestampSchema } from '@millrace/contracts';
import { pageSchema } from '../endpoints';

const micros = z.int();

export const BalanceSchema = z
  .object({
    available_micros: micros.meta({ description: 'Free to use.' }),
    held_micros: micros.meta({ description: 'Held for jobs that have not ended.' }),
  })
  .meta({ id: 'Balance', description: "An account's credits, in millionths of a credit." });

const LedgerTransactionSchema = z
  .object({
    id: z.uuid(),
    at: TimestampSchema,
    kind: z.enum(LEDGER_KINDS).meta({ description: 'What caused it.' }),
    available_micros: micros.meta({ description: 'Change of the available credits.' }),
    held_micros: micros.meta({ description: 'Change of the held credits.' }),
    job_id: z.uuid().nullable(),
    corrects: z.uuid().nullable().meta({ description: 'The transaction that this one reverses, in part or in full.' }),
    reason: z.string().nullable(),
    expires_at: TimestampSchema.nullable().meta({ description: 'When a grant expires.' }),
  })
  .meta({ id: 'LedgerTransaction', description: 'A transaction of the ledger, as the account sees it.' });

export const LedgerPageSchema = pageSchema('transactions', LedgerTransactionSchema, 'LedgerPage');

const used = {
  jobs: z.int().meta({ description: 'Jobs that ended, in any way.' }),
  billable_ms: z.int().meta({ description: 'Engine time that was billed, in milliseconds.' }),
  charged_micros: micros,
};

export const UsageSchema = z
  .object({
    usage: z.array(
      z.object({ group: z.string().nullable().meta({ description: 'Null for jobs without one.' }), ...used }),
    ),
    total: z.object(used).meta({ description: 'Of all jobs, including groups that are not listed.' }),
    from: TimestampSchema,
    to: TimestampSchema,
    group_by: z.string(),
    truncated: z
      .boolean()
      .meta({ description: 'True when there are more groups than are listed: `Accept: text/csv` gets all.' }),
  })
  .meta({ id: 'Usage', description: 'Usage, by the time at which jobs ended (UTC).' });

export const StatementSchema = z
  .object({
    month: z.string(),
    final: z.boolean().meta({ description: 'True when the month is over and nothing more is posted to it.' }),
    opening_balance_micros: micros.meta({ description: 'Available and held together, at the beginning.' }),
    grants_micros: micros,
    top_ups_micros: micros,
    charges_micros: micros,
    expiries_micros: micros,
    corrections_micros: micros,
    closing_balance_micros: micros.meta({ description: 'The opening balance and all movements.' }),
  })
  .meta({
    id: 'Statement',
    description: 'A month (UTC). Credits added are positive, credits used are negative; the lines add up.',
  });
