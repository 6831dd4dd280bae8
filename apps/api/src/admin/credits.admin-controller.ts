import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService, AuditLog } from '@millrace/accounts';
import { CreditsService } from '@millrace/billing';
import { Serves, defineEndpoint } from '../http/endpoint';
import { AdminDoor, type AdminInput } from './admin-door';

const CreditGrantSchema = z
  .object({
    amount_micros: z.int().min(1).meta({ description: 'Micro-credits to give.' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Why, for the ledger and the audit log.' }),
  })
  .meta({ id: 'CreditGrant', description: 'Credits for an account.' });

const BalanceSchema = z
  .object({ available_micros: z.int(), held_micros: z.int() })
  .meta({ id: 'Balance', description: "An account's balance in micro-credits." });

const grantCredits = defineEndpoint({
  id: 'grantCredits',
  method: 'post',
  path: '/admin/v1/accounts/{id}/credits',
  tag: 'credits',
  summary: 'Give an account credits',
  description: 'Adds to what the account has.',
  body: CreditGrantSchema,
  answer: { status: 201, description: 'The balance afterwards.', schema: BalanceSchema },
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

  @Serves(grantCredits)
  async grant({ operator, params, body }: AdminInput<typeof grantCredits>): Promise<object> {
    const { id } = await this.accounts.getAccount(params.id);
    const { amount_micros: amountMicros, reason } = body;
    const balance = await this.audit.record(operator, async (tx, note) => {
      const act = { action: 'credits.grant', subjectType: 'account', subjectId: id, accountId: id };
      note({ ...act, details: { amountMicros, reason } });
      return this.credits.grant(tx, operator, id, BigInt(amountMicros), reason);
    });
    return { available_micros: Number(balance.availableMicros), held_micros: Number(balance.heldMicros) };
  }
}
