import type { Readable } from 'node:stream';
import {
  GatewayModelPlaceSchema,
  GatewayModelsSchema,
  Refusal,
  type ModelFile,
  type ModelSource,
} from '@millrace/contracts';
import type { ClaimedAttempt } from '@millrace/jobs';
import { modelFilesOfNode, parseWorkflow } from '@millrace/workflow';
import { isNotHeld, type GatewayClient } from './gateway.client';
import { retried } from './retried';
import type { StoreLinks } from './store-links';

/** Stands for the account of the pool's deployment: of its warm-up, and of the models that it names. The scopes of attempts are hashes. */
export const WARM_UP_SCOPE = 'warm-up';

/** An attempt that runs: models are read for it, with its fence. */
type Running = Pick<ClaimedAttempt, 'jobId' | 'attempt' | 'leaseToken' | 'workflow'>;

/** The model library, as a worker outside the cluster reads it: by the gateway, for an attempt that it holds. */
export class RemoteModels implements ModelSource {
  /** By scope, which stands for an account, its attempts that run: no more than the worker has engines. */
  private readonly running = new Map<string, Running[]>();

  constructor(
    private readonly client: Pick<GatewayClient, 'ask' | 'download'>,
    private readonly links: StoreLinks,
  ) {}

  /** Scopes of which an attempt runs. */
  get scopes(): number {
    return this.running.size;
  }

  /** An attempt begins: models are read for it until `ended`. */
  began({ accountId, jobId, attempt, leaseToken, workflow }: Running & Pick<ClaimedAttempt, 'accountId'>): void {
    const others = this.running.get(accountId) ?? [];
    this.running.set(accountId, [{ jobId, attempt, leaseToken, workflow }, ...others]);
  }

  /** An attempt has ended, however. */
  ended({ accountId, leaseToken }: Pick<ClaimedAttempt, 'accountId' | 'leaseToken'>): void {
    const rest = this.runningOf(accountId).filter((one) => one.leaseToken !== leaseToken);
    if (rest.length > 0) this.running.set(accountId, rest);
    else this.running.delete(accountId);
  }

  /** What the names mean: each is asked once, for an attempt whose graph has it, since no other is answered. */
  async find(scope: string, names: readonly string[], signal?: AbortSignal): Promise<ModelFile[]> {
    if (scope === WARM_UP_SCOPE) return this.findOfWarmUp(names, signal);
    const files: ModelFile[] = [];
    let left = [...new Set(names)];
    for (const fence of this.runningOf(scope)) {
      const own = namesIn(fence.workflow);
      const asked = left.filter((name) => own.has(name));
      if (asked.length === 0) continue;
      const request = { method: 'POST', path: 'models', body: { names: asked }, fence, signal } as const;
      const answer = await retried(() => this.client.ask(GatewayModelsSchema, request), { signal }).catch(
        (error: unknown) => this.lost(scope, fence, error),
      );
      if (answer === undefined) continue;
      files.push(...answer.files);
      left = left.filter((name) => !own.has(name));
    }
    return files;
  }

  async open(
    { accountId: scope, digest }: Pick<ModelFile, 'digest'> & { accountId: string },
    { start, end }: { start: number; end: number },
    signal: AbortSignal,
  ): Promise<Readable> {
    const range = `bytes=${start}-${end - 1}`;
    if (scope === WARM_UP_SCOPE) return this.read(undefined, `warm-up/models/${digest}`, range, signal);
    for (const fence of this.runningOf(scope)) {
      try {
        return await this.read(fence, `models/${digest}`, range, signal);
      } catch (error) {
        this.lost(scope, fence, error);
      }
    }
    throw new Refusal('forbidden', 'This worker holds no attempt of the account any more.');
  }

  private async findOfWarmUp(names: readonly string[], signal?: AbortSignal): Promise<ModelFile[]> {
    const request = { method: 'POST', path: 'warm-up/models', body: { names }, signal } as const;
    return (await retried(() => this.client.ask(GatewayModelsSchema, request), { signal })).files;
  }

  /** @param fence of the attempt that it is for; undefined for the warm-up. */
  private async read(fence: Running | undefined, path: string, range: string, signal: AbortSignal): Promise<Readable> {
    const common = { method: 'GET', signal, ...(fence !== undefined && { fence }) } as const;
    const { url } = await this.client.ask(GatewayModelPlaceSchema, { ...common, path });
    const headers = { range };
    return this.links.readOrGateway(url, { headers, signal }, () =>
      this.client.download({ ...common, path: `${path}/content`, headers }),
    );
  }

  private runningOf(scope: string): readonly Running[] {
    return this.running.get(scope) ?? [];
  }

  /** @throws the error, unless it says that the attempt is not held any more. */
  private lost(scope: string, { leaseToken }: Running, error: unknown): undefined {
    if (!isNotHeld(error)) throw error;
    this.ended({ accountId: scope, leaseToken });
    return undefined;
  }
}

/** As the gateway reads a graph. */
function namesIn(workflow: string): ReadonlySet<string> {
  return new Set([...parseWorkflow(workflow).nodes.values()].flatMap(modelFilesOfNode));
}
