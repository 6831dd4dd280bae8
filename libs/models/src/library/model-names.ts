import type { Statements } from '@millrace/database';
import type { ModelUseStore } from './model-use.store';

/** Which models there are, for submissions that name some. */
export class ModelNames {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<ModelUseStore, 'find'>,
  ) {}

  /** Those of the names by which an account has a model that is ready, of its own or shared, in any folder. */
  async known(accountId: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    const models = await this.store.find(this.database, accountId, names);
    return new Set(models.map(({ name }) => name));
  }
}
