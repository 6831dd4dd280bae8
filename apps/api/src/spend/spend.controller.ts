import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { SpendCaps } from '@millrace/jobs';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import { assertSetsCaps } from './cap-setters';
import { deleteSpendCap, listSpendCaps, putSpendCap } from './spend.endpoints';
import { presentSpendCap, spendCapOf } from './spend.presenter';

/** What the jobs of an account, and of its keys, may cost. */
@Controller()
export class SpendController {
  constructor(
    private readonly audit: AuditLog,
    private readonly caps: SpendCaps,
  ) {}

  @Serves(listSpendCaps)
  async list({ visitor }: InputOf<typeof listSpendCaps>): Promise<AnswerOf<typeof listSpendCaps>> {
    return { spend_caps: (await this.caps.list(visitor.caller.accountId)).map(presentSpendCap) };
  }

  @Serves(putSpendCap)
  async put({ visitor, body, request }: InputOf<typeof putSpendCap>): Promise<AnswerOf<typeof putSpendCap>> {
    const { accountId } = visitor.caller;
    assertSetsCaps(visitor.caller);
    const draft = spendCapOf(body);
    const summed = await this.caps.sumUsage(accountId, draft, 'account');
    const cap = await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      const made = await this.caps.put(tx, accountId, draft, summed);
      const act = { action: 'spend_cap.put', subjectType: 'spend_cap', subjectId: made.id, accountId };
      note({ ...act, details: { cap: JSON.stringify(body) } });
      return made;
    });
    return presentSpendCap(cap);
  }

  @Serves(deleteSpendCap)
  async remove({ visitor, params, request }: InputOf<typeof deleteSpendCap>): Promise<void> {
    const { accountId } = visitor.caller;
    assertSetsCaps(visitor.caller);
    await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      await this.caps.delete(tx, accountId, params.id);
      note({ action: 'spend_cap.delete', subjectType: 'spend_cap', subjectId: params.id, accountId });
    });
  }
}
