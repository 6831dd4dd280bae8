import { Controller } from '@nestjs/common';
import { AccountsService, AuditLog } from '@millrace/accounts';
import { BalanceRepair, CreditReads, CreditsService } from '@millrace/billing';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { presentRebuild } from './balance-rebuild';
import { adjustCredits, getAccountCredits, rebuildBalance } from './credits.admin-endpoints';
import { presentBalance } from './credits.presenter';

/** Credits, as operators manage them. */
@Controller()
export class CreditsAdminController {
  constructor(
    private readonly audit: AuditLog,
    private readonly accounts: AccountsService,
    private readonly credits: CreditsService,
    private readonly reads: CreditReads,
    private readonly repair: BalanceRepair,
  ) {}

  @Serves(getAccountCredits)
  async balance({ params }: InputOf<typeof getAccountCredits>): Promise<AnswerOf<typeof getAccountCredits>> {
    const { id } = await this.accounts.getAccount(params.id);
    return presentBalance(await this.reads.balance(id));
  }

  @Serves(adjustCredits)
  async adjust(input: InputOf<typeof adjustCredits>): Promise<AnswerOf<typeof adjustCredits>> {
    const { operator, params, body, idempotencyKey: key = null } = input;
    const { id } = await this.accounts.getAccount(params.id);
    const { amount_micros: amountMicros, reason, expires_at: expires, corrects } = body;
    const adjustment = { amountMicros: BigInt(amountMicros), reason, expiresAt: expires, corrects, key };
    // Why money moved stands where all reasons do, also where it was not said twice.
    const acting = { ...operator, reason: operator.reason ?? reason };
    const balance = await this.audit.record(acting, async (tx, note) => {
      const { repeated, ...after } = await this.credits.adjust(tx, operator.actor, id, adjustment);
      const act = { action: 'credits.adjust', subjectType: 'account', subjectId: id, accountId: id };
      const expiry = expires?.toISOString() ?? null;
      note({ ...act, details: { amountMicros, reason, corrects, expiresAt: expiry, repeated } });
      return after;
    });
    return presentBalance(balance);
  }

  @Serves(rebuildBalance)
  async rebuild(input: InputOf<typeof rebuildBalance>): Promise<AnswerOf<typeof rebuildBalance>> {
    const { operator, params, body } = input;
    const { id } = await this.accounts.getAccount(params.id);
    const ledger = await this.repair.read(id);
    if (body.dry_run) return presentRebuild(await this.repair.compare(ledger), true);
    return this.audit.record(operator, async (tx, note) => {
      const rebuild = presentRebuild(await this.repair.rebuild(tx, ledger, operator.actor), false);
      note({
        action: 'credits.rebuild',
        subjectType: 'account',
        subjectId: id,
        accountId: id,
        details: { ...rebuild },
      });
      return rebuild;
    });
  }
}
