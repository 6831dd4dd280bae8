import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog, assertScope } from '@millrace/accounts';
import { ExportDeliveries, ExportDestinations, type DestinationDraft } from '@millrace/billing';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import {
  deleteExportDestination,
  getExportDestination,
  patchExportDestination,
  putExportDestination,
  testExportDestination,
} from './export-destination.endpoints';
import type { ExportDestinationPutSchema } from './export-destination.schemas';
import { presentDelivery, presentDestination } from './export.presenter';
import { EXPORTED } from './exported-scope';

/** Where the account has its daily exports written. Each change is in the audit log. */
@Controller()
export class ExportDestinationController {
  constructor(
    private readonly audit: AuditLog,
    private readonly destinations: ExportDestinations,
    private readonly deliveries: ExportDeliveries,
  ) {}

  @Serves(getExportDestination)
  async get({ visitor }: InputOf<typeof getExportDestination>): Promise<AnswerOf<typeof getExportDestination>> {
    return presentDestination(await this.destinations.get(visitor.caller.accountId));
  }

  @Serves(putExportDestination)
  async put({
    visitor,
    body,
    request,
  }: InputOf<typeof putExportDestination>): Promise<AnswerOf<typeof putExportDestination>> {
    const { accountId } = visitor.caller;
    assertScope(visitor.caller, EXPORTED);
    const { bucket, endpoint, prefix } = body;
    const destination = await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      const made = await this.destinations.put(tx, accountId, draftOf(body));
      note({ ...changed('put', accountId), details: { bucket, endpoint, prefix } });
      return made;
    });
    return presentDestination(destination);
  }

  @Serves(patchExportDestination)
  async patch({
    visitor,
    body,
    request,
  }: InputOf<typeof patchExportDestination>): Promise<AnswerOf<typeof patchExportDestination>> {
    const { accountId } = visitor.caller;
    assertScope(visitor.caller, EXPORTED);
    const destination = await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      note({ ...changed(body.enabled ? 'enable' : 'disable', accountId), details: {} });
      return this.destinations.enable(tx, accountId, body.enabled);
    });
    return presentDestination(destination);
  }

  @Serves(deleteExportDestination)
  async remove({ visitor, request }: InputOf<typeof deleteExportDestination>): Promise<void> {
    const { accountId } = visitor.caller;
    await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      await this.destinations.delete(tx, accountId);
      note({ ...changed('delete', accountId), details: {} });
    });
  }

  @Serves(testExportDestination)
  async test({ visitor }: InputOf<typeof testExportDestination>): Promise<AnswerOf<typeof testExportDestination>> {
    assertScope(visitor.caller, EXPORTED);
    return presentDelivery(await this.deliveries.test(visitor.caller.accountId));
  }
}

const changed = (verb: string, accountId: string) =>
  ({ action: `export_destination.${verb}`, subjectType: 'account', subjectId: accountId, accountId }) as const;

function draftOf({
  bucket,
  region,
  endpoint,
  access_key_id: accessKeyId,
  secret_access_key: secretAccessKey,
  prefix: given,
}: z.output<typeof ExportDestinationPutSchema>): DestinationDraft {
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`;
  if (bucket === null || accessKeyId === null || secretAccessKey === null) return { target: null, prefix };
  return { target: { bucket, region, endpoint, accessKeyId, secretAccessKey }, prefix };
}
