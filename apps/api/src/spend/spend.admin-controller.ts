import { Controller } from '@nestjs/common';
import { AccountsService, AuditLog } from '@millrace/accounts';
import { SpendCaps } from '@millrace/jobs';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { getAccountSpend, putAccountSpendCap } from './spend.admin-endpoints';
import { presentSpendCap, spendCapOf } from './spend.presenter';

/** Caps of any account, as operators see and set them. */
@Controller()
export class SpendAdminController {
  constructor(
    private readonly audit: AuditLog,
    private readonly accounts: AccountsService,
    private readonly caps: SpendCaps,
  ) {}

  @Serves(getAccountSpend)
  async list({ params }: InputOf<typeof getAccountSpend>): Promise<AnswerOf<typeof getAccountSpend>> {
    const { id } = await this.accounts.getAccount(params.id);
    return { spend_caps: (await this.caps.list(id)).map(presentSpendCap) };
  }

  @Serves(putAccountSpendCap)
  async put(input: InputOf<typeof putAccountSpendCap>): Promise<AnswerOf<typeof putAccountSpendCap>> {
    const { operator, params, body } = input;
    const { id: accountId } = await this.accounts.getAccount(params.id);
    const draft = spendCapOf(body);
    const summed = await this.caps.sumUsage(accountId, draft, 'operator');
    const cap = await this.audit.record(operator, async (tx, note) => {
      const made = await this.caps.put(tx, accountId, draft, summed);
      const act = { action: 'spend_cap.put', subjectType: 'spend_cap', subjectId: made.id, accountId };
      note({ ...act, details: { cap: JSON.stringify(body) } });
      return made;
    });
    return presentSpendCap(cap);
  }
}
