import type { Readable } from 'node:stream';
import {
  GatewayModelPlaceSchema,
  GatewayModelsSchema,
  Refusal,
  type ModelFile,
  type ModelSource,
} from '@millrace/contracts';
import type { ClaimedAttempt } from '@millrace/jobs';
import { isNotHeld, readFromStore, type GatewayClient } from './gateway.client';
import { retried } from './retried';

/** Attempts of one scope that are kept in mind; a worker has fewer engines. */
const MAX_ATTEMPTS = 64;

type Held = Pick<ClaimedAttempt, 'jobId' | 'attempt' | 'leaseToken'>;

/** The model library, as a worker outside the cluster reads it: by the gateway, for an attempt that it holds. */
export class RemoteModels implements ModelSource {
  /** By scope, which stands for an account, the attempts that were claimed last. */
  private readonly held = new Map<string, Held[]>();

  constructor(private readonly client: Pick<GatewayClient, 'ask' | 'download'>) {}

  /** An attempt was claimed: models are read for it. */
  claimed({ accountId, jobId, attempt, leaseToken }: Held & Pick<ClaimedAttempt, 'accountId'>): void {
    const others = this.held.get(accountId) ?? [];
    this.held.set(accountId, [{ jobId, attempt, leaseToken }, ...others].slice(0, MAX_ATTEMPTS));
  }

  /** What the names mean in each of the scope's attempts: each is answered with names of its own graph alone. */
  async find(scope: string, names: readonly string[]): Promise<ModelFile[]> {
    const files = new Map<string, ModelFile>();
    for (const fence of [...(this.held.get(scope) ?? [])]) {
      const request = { method: 'POST', path: 'models', body: { names }, fence } as const;
      const answer = await retried(() => this.client.ask(GatewayModelsSchema, request)).catch((error: unknown) =>
        this.lost(scope, fence, error),
      );
      for (const file of answer?.files ?? []) files.set(`${file.folder}/${file.name}`, file);
    }
    return [...files.values()];
  }

  async open(
    { accountId: scope, digest }: Pick<ModelFile, 'digest'> & { accountId: string },
    { start, end }: { start: number; end: number },
    signal: AbortSignal,
  ): Promise<Readable> {
    for (const fence of [...(this.held.get(scope) ?? [])]) {
      try {
        return await this.read(fence, digest, `bytes=${start}-${end - 1}`, signal);
      } catch (error) {
        this.lost(scope, fence, error);
      }
    }
    throw new Refusal('forbidden', 'This worker holds no attempt of the account any more.');
  }

  private async read(fence: Held, digest: string, range: string, signal: AbortSignal): Promise<Readable> {
    const path = `models/${digest}`;
    const { url } = await this.client.ask(GatewayModelPlaceSchema, { method: 'GET', path, fence, signal });
    const headers = { range };
    if (url !== null) return readFromStore(url, { headers, signal });
    return this.client.download({ method: 'GET', path: `${path}/content`, fence, headers, signal });
  }

  /** @throws the error, unless it says that the attempt is not held any more. */
  private lost(scope: string, fence: Held, error: unknown): undefined {
    if (!isNotHeld(error)) throw error;
    const rest = (this.held.get(scope) ?? []).filter((one) => one !== fence);
    if (rest.length > 0) this.held.set(scope, rest);
    else this.held.delete(scope);
    return undefined;
  }
}
