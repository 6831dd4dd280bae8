import { wholeAccount, type AssetService } from '@millrace/assets';
import { Refusal, isUuid, newId } from '@millrace/contracts';
import {
  ConstraintError,
  decodeCursor,
  isLockTimeout,
  pageOf,
  type Database,
  type Page,
  type Statements,
} from '@millrace/database';
import { Turns } from '@millrace/platform';
import type { ModelSettings } from '../models.settings';
import type { Model, ModelDraft, Transact } from './model';
import { readModelName } from './model-name';
import type { ModelFilter, ModelStore } from './model.store';

const LIST = 'models';
/** Of one account: a page may read all its models, and as many that failed. */
const LISTS_AT_A_TIME = 1;

/** What a list of models shows, and from where on. */
export interface ModelListFilter extends Omit<ModelFilter, 'before'> {
  cursor: string | null;
}

/** The models of accounts: recorded, found, shared, deleted. */
export class ModelLibrary {
  private readonly turns = new Turns(LISTS_AT_A_TIME, 'lists of models');

  constructor(
    private readonly database: Database,
    private readonly store: ModelStore,
    private readonly assets: Pick<AssetService, 'removeIn'>,
    private readonly settings: Pick<ModelSettings, 'modelsPerAccount' | 'modelPickles'>,
  ) {}

  /**
   * Record a model whose bytes are to come, by an upload or by an import. Those that failed do not count: the account keeps as many of them as it
   * may have models, the latest.
   *
   * @param uploadId null: maintenance imports it.
   * @throws Refusal `invalid_request` for its folder or name; `model_exists`, `model_limit`.
   */
  async add(
    tx: Statements,
    draft: ModelDraft,
    { sizeBytes = null, uploadId = null }: Partial<Pick<Model, 'sizeBytes' | 'uploadId'>> = {},
  ): Promise<Model> {
    const format = readModelName(draft, this.settings.modelPickles);
    const limit = this.settings.modelsPerAccount;
    if ((await this.store.countLocked(tx, draft.accountId, limit)) >= limit) throw tooMany(limit);
    await this.store.dropFailed(tx, draft.accountId, limit);
    const model = await this.store.insert(tx, { ...draft, id: newId(), format, sizeBytes, uploadId });
    if (model === null) throw exists(draft);
    return model;
  }

  /** Newest first. @param accountId null: those of all accounts, for operators. @throws Refusal `invalid_cursor`, `rate_limited`. */
  async list(accountId: string | null, { cursor, limit, ...filter }: ModelListFilter): Promise<Page<Model>> {
    const before = cursor === null ? null : decodeCursor(LIST, cursor, isUuid);
    const read = (): Promise<Model[]> =>
      this.store.list(this.database, accountId, { ...filter, before, limit: limit + 1 });
    const models = accountId === null ? await read() : await this.turns.run(accountId, read);
    return pageOf(LIST, models, limit, ({ id }) => id);
  }

  /** A model of the account, or a shared one. @param accountId null: of any account. @throws Refusal `not_found`. */
  async get(accountId: string | null, id: string): Promise<Model> {
    return found(isUuid(id) ? await this.store.find(this.database, accountId, id) : null, id);
  }

  /** A model of the account itself. @throws Refusal `not_found`. */
  async getOwn(accountId: string, id: string): Promise<Model> {
    return found(isUuid(id) ? await this.store.findOwn(this.database, accountId, id) : null, id);
  }

  /**
   * Delete a model and, where nothing else refers to them, its bytes. What of an upload has arrived is left to the caller.
   *
   * @throws Refusal `not_found`; `model_in_use` while jobs that have not ended, or are being submitted, or a deployment name it, or it is shared; `asset_in_use` as `AssetService.removeIn`.
   * @throws ConstraintError `foreign_key` while something else refers to its bytes: then `keepsBytes` deletes it.
   */
  private async remove(tx: Statements, accountId: string, id: string, { keepsBytes = false } = {}): Promise<Model> {
    const known = found(isUuid(id) ? await this.locked(tx, accountId, id) : null, id);
    const model = await this.store.removeUnused(tx, known);
    if (model === null) throw inUse(known, await this.store.deploymentOf(tx, known));
    if (model.assetId !== null && !keepsBytes) await this.assets.removeIn(tx, wholeAccount(accountId), model.assetId);
    return model;
  }

  /** @throws Refusal `model_in_use` where another transaction uses the model: nothing waits for the end of a batch with a connection. */
  private async locked(tx: Statements, accountId: string, id: string): Promise<Model | null> {
    try {
      return await this.store.findOwnLocked(tx, accountId, id);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      throw new Refusal('model_in_use', `Jobs that are being submitted use model ${id}; it was not deleted.`);
    }
  }

  /**
   * Delete a model by a transaction of the caller's, and its bytes, unless something else refers to them.
   *
   * @throws Refusal as `remove`.
   */
  async delete(accountId: string, id: string, transact: Transact): Promise<Model> {
    return keepingSharedBytes((keepsBytes) => transact((tx) => this.remove(tx, accountId, id, { keepsBytes })));
  }

  /** Let all accounts use a model, or its own alone. @throws Refusal `not_found`; `model_exists` where another is shared so. */
  async share(tx: Statements, id: string, shared: boolean): Promise<Model> {
    const known = found(isUuid(id) ? await this.store.find(tx, null, id) : null, id);
    try {
      const model = await this.store.share(tx, id, shared);
      if (model !== null) return model;
    } catch (error) {
      if (error instanceof ConstraintError && error.kind === 'unique') throw exists(known);
      throw error;
    }
    throw new Refusal('model_refused', `The model is ${known.state}; only one that is ready can be shared.`);
  }
}

/**
 * Delete a model in a transaction, with its bytes, and where something else refers to these, without.
 *
 * @param remove throws ConstraintError `foreign_key` while something else refers to the bytes, Refusal `asset_in_use` while that comes to.
 */
export async function keepingSharedBytes<T>(remove: (keepsBytes: boolean) => Promise<T>): Promise<T> {
  try {
    return await remove(false);
  } catch (error) {
    const isUsed =
      error instanceof ConstraintError
        ? error.kind === 'foreign_key'
        : error instanceof Refusal && error.code === 'asset_in_use';
    if (!isUsed) throw error;
    return remove(true);
  }
}

function found(model: Model | null, id: string): Model {
  if (model === null) throw new Refusal('not_found', `There is no model ${id.slice(0, 64)}.`);
  return model;
}

function exists({ folder, name }: Pick<Model, 'folder' | 'name'>): Refusal {
  return new Refusal('model_exists', `There is a model ${folder}/${name}; delete it first, or choose another name.`);
}

/** @param deployment the name of one that names it; null where none does. */
function inUse({ name, shared }: Model, deployment: string | null): Refusal {
  if (!shared && deployment !== null) {
    const cure = 'Take it from its models first.';
    return new Refusal('model_in_use', `The deployment “${deployment}” names it: ${name} was not deleted. ${cure}`);
  }
  const cause = shared ? 'The operator of this service shares it' : 'Jobs that have not ended name it';
  return new Refusal('model_in_use', `${cause}: ${name} was not deleted.`);
}

function tooMany(limit: number): Refusal {
  return new Refusal('model_limit', `This account has ${limit} models, the most that it may have.`);
}
