import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { CreditAlerts } from '@millrace/billing';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import { getCreditAlert, putCreditAlert } from './credit-alert.endpoints';

/** below which balance an account is warned that its credits are low. */
@Controller()
export class CreditAlertController {
  constructor(
    private readonly audit: AuditLog,
    private readonly alerts: CreditAlerts,
  ) {}

  @Serves(getCreditAlert)
  async get({ visitor }: InputOf<typeof getCreditAlert>): Promise<AnswerOf<typeof getCreditAlert>> {
    return { below_micros: Number(await this.alerts.read(visitor.caller.accountId)) };
  }

  @Serves(putCreditAlert)
  async put({ visitor, body, request }: InputOf<typeof putCreditAlert>): Promise<AnswerOf<typeof putCreditAlert>> {
    const { accountId } = visitor.caller;
    await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      await this.alerts.set(tx, accountId, BigInt(body.below_micros));
      const details = { belowMicros: body.below_micros };
      note({ action: 'credits.alert', subjectType: 'account', subjectId: accountId, accountId, details });
    });
    return body;
  }
}
