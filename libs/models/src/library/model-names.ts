import type { ModelName } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { ModelUseStore } from './model-use.store';

/** Which models there are, for submissions and deployments that name some. */
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

  /** Those of the models that an account has not, of its own or shared, or that are not ready yet. */
  async lacking(tx: Statements, accountId: string, named: readonly ModelName[]): Promise<ModelName[]> {
    const names = [...new Set(named.map(({ name }) => name))];
    const models = await this.store.find(tx, accountId, names);
    return named.filter((one) => !models.some(({ folder, name }) => folder === one.folder && name === one.name));
  }
}
