import { Controller } from '@nestjs/common';
import { AuditLog, assertScope } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { Erasures } from '@millrace/privacy';
import { Serves, actorOf, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { OpenStreams, holderOf } from '../streams';
import { AccountArchive } from './account-archive';
import { erasureSubjectOf, presentOwnErasure } from './erasure.presenter';
import { exportAccount, getErasure, listErasures, requestErasure } from './privacy.endpoints';

/** What an archive has can be read by these alone elsewhere, too. */
const ARCHIVED: readonly Scope[] = ['jobs:read', 'assets:read', 'usage:read', 'webhooks:read'];
/** Of jobs and of what carries a label. Who has the account erased is an owner. */
const ERASED: readonly Scope[] = ['jobs:write', 'assets:write'];

/** What the account has, handed out and erased. */
@Controller()
export class PrivacyController {
  constructor(
    private readonly erasures: Erasures,
    private readonly archive: AccountArchive,
    private readonly audit: AuditLog,
    private readonly open: OpenStreams,
  ) {}

  @Serves(exportAccount)
  async export({ visitor, request, response }: InputOf<typeof exportAccount>): Promise<void> {
    const { accountId } = visitor.caller;
    for (const scope of ARCHIVED) assertScope(visitor.caller, scope);
    const act = { action: 'account.export', subjectType: 'account', subjectId: accountId, accountId };
    await this.audit.noteOnceAnHour(actorOf(visitor.caller, request), [act]);
    const holder = holderOf(visitor.caller, null, exportAccount.access.scope);
    await this.archive.send(request, response, accountId, (send) => this.open.sending(response, holder, send));
  }

  @Serves(requestErasure)
  async request({ visitor, body, request }: InputOf<typeof requestErasure>): Promise<AnswerOf<typeof requestErasure>> {
    const { accountId, apiKeyId: keyId } = visitor.caller;
    const subject = erasureSubjectOf(body, accountId);
    for (const scope of subject.kind === 'account' ? [] : ERASED) assertScope(visitor.caller, scope);
    const actor = { ...actorOf(visitor.caller, request), keyId };
    const { erasure } = await this.erasures.request(actor, accountId, subject);
    return presentOwnErasure(erasure);
  }

  @Serves(listErasures)
  async list({ visitor, query }: InputOf<typeof listErasures>): Promise<AnswerOf<typeof listErasures>> {
    return presentPage('erasures', await this.erasures.list(visitor.caller.accountId, query), presentOwnErasure);
  }

  @Serves(getErasure)
  async get({ visitor, params }: InputOf<typeof getErasure>): Promise<AnswerOf<typeof getErasure>> {
    return presentOwnErasure(await this.erasures.get(visitor.caller.accountId, params.id));
  }
}
