import { Readable, addAbortSignal } from 'node:stream';
import type { ContentService } from '@millrace/assets';
import { Refusal, type ModelFile, type ModelSource } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { ModelUseStore } from './model-use.store';

/** The model library, as workers read it: they reach its records and its bytes themselves. */
export class ModelLibrarySource implements ModelSource {
  constructor(
    private readonly database: Database,
    private readonly store: ModelUseStore,
    private readonly content: Pick<ContentService, 'locateInput' | 'openPart'>,
  ) {}

  async find(accountId: string, names: readonly string[]): Promise<ModelFile[]> {
    if (names.length === 0) return [];
    const files = await this.store.find(this.database, accountId, names);
    const ids = files.map(({ id }) => id);
    if (ids.length > 0) await this.store.noteUse(this.database, ids);
    return files.map(({ folder, name, digest, sizeBytes }) => ({ folder, name, digest, sizeBytes }));
  }

  /** @throws Refusal `not_found` where the account has no such model any more; BlobStoreError. */
  async open(
    { accountId, digest }: Pick<ModelFile, 'digest'> & { accountId: string },
    { start, end }: { start: number; end: number },
    signal: AbortSignal,
  ): Promise<Readable> {
    signal.throwIfAborted();
    const asset = await this.assetOf(accountId, digest);
    if (start >= end) return Readable.from([]);
    const bytes = await this.content.openPart(asset.accountId, asset.id, { start, end: end - 1 });
    return addAbortSignal(signal, bytes);
  }

  /**
   * Where the store itself serves a content; null where `open` must.
   *
   * @throws Refusal `not_found` where the account has no such model any more.
   */
  async locate({ accountId, digest }: Pick<ModelFile, 'digest'> & { accountId: string }): Promise<string | null> {
    const asset = await this.assetOf(accountId, digest);
    return (await this.content.locateInput(asset.accountId, asset.id)).url;
  }

  private async assetOf(accountId: string, digest: string): Promise<{ id: string; accountId: string }> {
    const asset = await this.store.contentOf(this.database, accountId, digest);
    if (asset === null) throw new Refusal('not_found', `The library has no model with the content ${digest}.`);
    return asset;
  }
}
