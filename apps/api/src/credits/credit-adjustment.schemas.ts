import { z } from 'zod';
import { expiry } from '../endpoints';

export const CreditAdjustmentSchema = z
  .object({
    amount_micros: z
      .int()
      .refine((amount) => amount !== 0, 'must not be 0')
      .meta({ description: 'Micro-credits to grant; negative to take back.' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Why, for the ledger and the audit log.' }),
    expires_at: expiry.meta({ description: 'When the grant expires; null or absent means never.' }),
    corrects: z
      .uuid()
      .nullable()
      .default(null)
      .meta({
        description:
          'The transaction of the ledger that this corrects: a `grant` to take credits back from, a `settle` to refund, or the ' +
          '`correction` of a refund, with an amount below zero, to charge it again. ' +
          "Absent: a new grant, or credits taken back from the account's grants, the latest first.",
      }),
  })
  .refine(({ expires_at: at, corrects, amount_micros: amount }) => at === null || (amount > 0 && corrects === null), {
    path: ['expires_at'],
    message: 'is possible only for a new grant',
  })
  .meta({ id: 'CreditAdjustment', description: "A change of an account's credits." });
