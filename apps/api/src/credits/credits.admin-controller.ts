import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService, AuditLog } from '@millrace/accounts';
import { CreditsService } from '@millrace/billing';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { idempotencyKeyOf } from '../endpoints/idempotency-key';
import { presentBalance } from './credits.presenter';
import { BalanceSchema } from './credits.schemas';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const expiresAt = z.iso
  .datetime({ offset: true, error: 'must be a time with a zone, e.g. 2030-01-31T12:00:00Z' })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() > Date.now(), 'must be in the future')
  .nullable()
  .default(null);

const CreditAdjustmentSchema = z
  .object({
    amount_micros: z
      .int()
      .refine((amount) => amount !== 0, 'must not be 0')
      .meta({ description: 'Micro-credits to give; below zero, to take back.' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Why, for the ledger and the audit log.' }),
    expires_at: expiresAt.meta({ description: 'When what is given expires; null or absent means never.' }),
    corrects: z
      .uuid()
      .nullable()
      .default(null)
      .meta({
        description:
          'The transaction of the ledger that this corrects: a `grant` to take back from, or a `settle` to give back ' +
          "of. Absent: a new grant, or a take-back from the account's grants, the latest first.",
      }),
  })
  .refine(({ expires_at: at, corrects, amount_micros: amount }) => at === null || (amount > 0 && corrects === null), {
    path: ['expires_at'],
    message: 'is possible for a new grant alone',
  })
  .meta({ id: 'CreditAdjustment', description: "A change of an account's credits." });

const adjustCredits = defineEndpoint({
  id: 'adjustCredits',
  method: 'post',
  path: '/admin/v1/accounts/{id}/credits',
  tag: 'credits',
  summary: 'Give an account credits, or take some back',
  description:
    'With an `Idempotency-Key` header, sending it again changes nothing. What was spent or is held is never taken back.',
  body: CreditAdjustmentSchema,
  answer: { status: 201, description: 'The balance afterwards.', schema: BalanceSchema },
  errors: ['idempotency_key_reuse'],
});

/** Money, as operators manage it. */
@Controller()
export class CreditsAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AuditLog) private readonly audit: AuditLog,
    @Inject(AccountsService) private readonly accounts: AccountsService,
    @Inject(CreditsService) private readonly credits: CreditsService,
  ) {}

  @Serves(adjustCredits)
  async adjust({ operator, params, body, request }: AdminInput<typeof adjustCredits>): Promise<object> {
    const { id } = await this.accounts.getAccount(params.id);
    const { amount_micros: amountMicros, reason, expires_at: expires, corrects } = body;
    const key = idempotencyKeyOf(request) ?? null;
    const adjustment = { amountMicros: BigInt(amountMicros), reason, expiresAt: expires, corrects, key };
    const balance = await this.audit.record(operator, async (tx, note) => {
      const { repeated, ...after } = await this.credits.adjust(tx, operator.actor, id, adjustment);
      const act = { action: 'credits.adjust', subjectType: 'account', subjectId: id, accountId: id };
      const expiry = expires?.toISOString() ?? null;
      note({ ...act, details: { amountMicros, reason, corrects, expiresAt: expiry, repeated } });
      return after;
    });
    return presentBalance(balance);
  }
}
