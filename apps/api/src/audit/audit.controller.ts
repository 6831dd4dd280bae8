import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller } from '@nestjs/common';
import { AccountAuditLog, AuditLog, type AccountAuditFilter } from '@millrace/accounts';
import { Serves, actorOf, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { exportOwnAudit, listOwnAudit } from './audit.endpoints';
import { FORMATS, presentOwnEntry } from './audit.presenter';

/** An account's own audit log, to the account. */
@Controller()
export class AuditController {
  constructor(
    private readonly log: AccountAuditLog,
    private readonly audit: AuditLog,
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
    await this.log.send(accountId, filterOf(query), async (pages) => {
      response.setHeader('Content-Type', format.type);
      response.setHeader('Content-Disposition', `attachment; filename="audit-log.${query.format}"`);
      if (request.method === 'HEAD') {
        response.end();
        return;
      }
      const parts = async function* (): AsyncGenerator<string> {
        if (format.begin !== '') yield format.begin;
        for await (const entries of pages) yield format.text(entries);
      };
      const text = Readable.from(parts(), { objectMode: true, highWaterMark: 1 });
      await pipeline(text, response).catch((error: NodeJS.ErrnoException) => {
        // A client may well stop reading; that is no failure of ours.
        if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
      });
    });
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
