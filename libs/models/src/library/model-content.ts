import { buffer } from 'node:stream/consumers';
import { wholeAccount, type AssetRecord, type AssetService, type ContentService } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import { HeaderError, readHeader } from '../headers';
import type { Model } from './model';
import type { ModelStore } from './model.store';

/** Looks at bytes that have arrived whole: makes them a model, or refuses them. */
export class ModelContents {
  constructor(
    private readonly database: Database,
    private readonly store: ModelStore,
    private readonly assets: Pick<AssetService, 'remove'>,
    private readonly content: Pick<ContentService, 'openPart'>,
  ) {}

  /**
   * Make a model ready with the bytes of an asset of its account. Safe to repeat: its state is written once. The bytes of a model that was
   * deleted meanwhile go, too.
   *
   * @throws Refusal `model_refused` for bytes that are not what its name says: it has failed, and the bytes are gone.
   */
  async settle(model: Model, asset: Pick<AssetRecord, 'id' | 'blob'>): Promise<void> {
    const { hash, sizeBytes } = asset.blob;
    const read = async (start: number, end: number): Promise<Buffer> =>
      end > start
        ? buffer(await this.content.openPart(model.accountId, asset.id, { start, end: end - 1 }))
        : Buffer.alloc(0);
    try {
      const header = await readHeader(model.format, read, sizeBytes);
      const digest = hash.slice('blake3:'.length);
      const settled = await this.store.settle(this.database, model, { assetId: asset.id, digest, sizeBytes, header });
      if (!settled) await this.removeUnreferenced(model, asset.id);
    } catch (error) {
      if (!(error instanceof HeaderError)) throw error;
      throw await this.refuse(model, asset.id, `The file ${error.message}.`);
    }
  }

  /** End a model whose bytes are not taken. @returns the refusal. */
  async refuse(model: Model, assetId: string, problem: string): Promise<Refusal> {
    await this.fail(model, problem);
    await this.removeUnreferenced(model, assetId);
    return new Refusal('model_refused', problem);
  }

  /** An asset that something refers to, such as the model that another process made ready, stays as the asset that it is. */
  private async removeUnreferenced({ accountId }: Model, assetId: string): Promise<void> {
    await this.assets.remove(wholeAccount(accountId), assetId).catch(() => undefined);
  }

  /** End a model that has no bytes. */
  async fail(model: Model, problem: string): Promise<void> {
    await this.store.fail(this.database, model, problem);
  }
}
