import { Refusal, isUuid } from '@millrace/contracts';
import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import type { DailyExports } from '../exports';
import type { ExportDelivery } from './delivery';
import type { DeliveryStore } from './delivery.store';

const LIST = 'export deliveries';

/** What is written for an account, for its owner, who has it written again. */
export class ExportDeliveries {
  constructor(
    private readonly database: Statements,
    private readonly store: DeliveryStore,
    private readonly exports: Pick<DailyExports, 'file'>,
  ) {}

  /** Newest first. @throws Refusal `invalid_cursor`. */
  async list(
    accountId: string,
    { cursor, limit }: { cursor: string | null; limit: number },
  ): Promise<Page<ExportDelivery>> {
    const before = cursor === null ? null : decodeCursor(LIST, cursor, isUuid);
    const deliveries = await this.store.list(this.database, accountId, { before, limit });
    return pageOf(LIST, deliveries, limit, ({ id }) => id);
  }

  /** @throws Refusal `not_found`. */
  async get(accountId: string, id: string): Promise<ExportDelivery> {
    const delivery = await this.store.find(this.database, accountId, id);
    if (delivery === null) throw new Refusal('not_found', `There is no export delivery ${id}.`);
    return delivery;
  }

  /** Have a small file written, also where days are not. @throws Refusal `not_found` without a destination. */
  async test(accountId: string): Promise<ExportDelivery> {
    return this.get(accountId, assertMade(await this.store.createTest(this.database, accountId)));
  }

  /** Have the files of a day written, also again. @throws Refusal `not_found` for a day that is not over, and without a destination. */
  async requestDay(accountId: string, day: string): Promise<ExportDelivery> {
    // Whether there is such a day is the rule of who makes its files.
    await this.exports.file(accountId, day, 'usage');
    return this.get(accountId, assertMade(await this.store.requestDay(this.database, accountId, day)));
  }
}

function assertMade(id: string | null): string {
  if (id !== null) return id;
  throw new Refusal('not_found', 'The account has no destination of exports: set one first.');
}
