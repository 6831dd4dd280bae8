import { Controller } from '@nestjs/common';
import { assertScope } from '@millrace/accounts';
import { ExportDeliveries } from '@millrace/billing';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { deliverExport, getExportDelivery, listExportDeliveries } from './export-deliveries.endpoints';
import { presentDelivery } from './export.presenter';
import { EXPORTED } from './exported-scope';

/** Days that are written to the account's bucket. */
@Controller()
export class ExportDeliveriesController {
  constructor(private readonly deliveries: ExportDeliveries) {}

  @Serves(listExportDeliveries)
  async list({ visitor, query }: InputOf<typeof listExportDeliveries>): Promise<AnswerOf<typeof listExportDeliveries>> {
    return presentPage('deliveries', await this.deliveries.list(visitor.caller.accountId, query), presentDelivery);
  }

  @Serves(getExportDelivery)
  async get({ visitor, params }: InputOf<typeof getExportDelivery>): Promise<AnswerOf<typeof getExportDelivery>> {
    return presentDelivery(await this.deliveries.get(visitor.caller.accountId, params.id));
  }

  @Serves(deliverExport)
  async deliver({ visitor, params }: InputOf<typeof deliverExport>): Promise<AnswerOf<typeof deliverExport>> {
    assertScope(visitor.caller, EXPORTED);
    return presentDelivery(await this.deliveries.requestDay(visitor.caller.accountId, params.day));
  }
}
