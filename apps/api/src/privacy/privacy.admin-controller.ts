import { Controller } from '@nestjs/common';
import { AccountsService, AuditLog } from '@millrace/accounts';
import { Erasures } from '@millrace/privacy';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { AccountArchive } from './account-archive';
import { erasureSubjectOf, presentErasure } from './erasure.presenter';
import { exportAnAccount, getAnErasure, listAllErasures, requestAnErasure } from './privacy.admin-endpoints';

/** What accounts have, handed out and erased by operators. */
@Controller()
export class PrivacyAdminController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly erasures: Erasures,
    private readonly archive: AccountArchive,
    private readonly audit: AuditLog,
  ) {}

  @Serves(exportAnAccount)
  async export({ operator, params, request, response }: InputOf<typeof exportAnAccount>): Promise<void> {
    const { id } = await this.accounts.getAccount(params.id);
    const act = { action: 'account.export', subjectType: 'account', subjectId: id, accountId: id };
    await this.audit.noteOnceAnHour(operator, [act]);
    await this.archive.send(request, response, id);
  }

  @Serves(requestAnErasure)
  async request({
    operator,
    params,
    body,
  }: InputOf<typeof requestAnErasure>): Promise<AnswerOf<typeof requestAnErasure>> {
    const { id } = await this.accounts.getAccount(params.id);
    const { erasure } = await this.erasures.request({ ...operator, keyId: null }, id, erasureSubjectOf(body, id));
    return presentErasure(erasure);
  }

  @Serves(listAllErasures)
  async list({ query }: InputOf<typeof listAllErasures>): Promise<AnswerOf<typeof listAllErasures>> {
    return presentPage('erasures', await this.erasures.list(null, query), presentErasure);
  }

  @Serves(getAnErasure)
  async get({ params }: InputOf<typeof getAnErasure>): Promise<AnswerOf<typeof getAnErasure>> {
    return presentErasure(await this.erasures.get(null, params.id));
  }
}
