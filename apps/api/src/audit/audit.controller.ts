import { Controller } from '@nestjs/common';
import { AccountAuditLog, AuditLog, type AccountAuditFilter } from '@millrace/accounts';
import { Serves, actorOf, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { endHead, sendStream } from '../http';
import { OpenStreams, holderOf } from '../streams';
import { exportOwnAudit, listOwnAudit } from './audit.endpoints';
import { FORMATS, presentOwnEntry, textsOf } from './audit.presenter';

/** An account's own audit log, to the account. */
@Controller()
export class AuditController {
  constructor(
    private readonly log: AccountAuditLog,
    private readonly audit: AuditLog,
    private readonly open: OpenStreams,
  ) {}

  @Serves(listOwnAudit)
  async list({ visitor, query }: InputOf<typeof listOwnAudit>): Promise<AnswerOf<typeof listOwnAudit>> {
    const page = await this.log.list(visitor.caller.accountId, filterOf(query), query);
    return presentPage('entries', page, presentOwnEntry);
  }

  @Serves(exportOwnAudit)
  async export({ visitor, query, request, response }: InputOf<typeof exportOwnAudit>): Promise<void> {
    const { accountId } = visitor.caller;
    const act = { action: 'audit_log.export', subjectType: 'account', subjectId: accountId, accountId };
    await this.audit.noteOnceAnHour(actorOf(visitor.caller, request), [act]);
    const format = FORMATS[query.format];
    const headers = {
      'Content-Type': format.type,
      'Content-Disposition': `attachment; filename="audit-log.${query.format}"`,
    };
    const holder = holderOf(visitor.caller, null, exportOwnAudit.access.scope);
    // A place is taken when the turn has come: those that wait, perhaps for clients that are gone, hold none.
    await this.log.send(accountId, filterOf(query), (pages) =>
      this.open.sending(response, holder, async () => {
        if (!endHead(response, headers)) await sendStream(response, { headers, parts: textsOf(format, pages) });
      }),
    );
  }
}

function filterOf({
  actor,
  action,
  subject_id: subjectId,
  from,
  to,
}: Pick<
  InputOf<typeof exportOwnAudit>['query'],
  'actor' | 'action' | 'subject_id' | 'from' | 'to'
>): AccountAuditFilter {
  return { actor, action, subjectId, from, to };
}
