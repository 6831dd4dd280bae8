import { GatewayGraphSchema, GatewayHeartbeatAnswerSchema } from '@millrace/contracts';
import type { Fence } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import { LeaseKeeper } from '../attempt';
import { isUnknown, type GatewayClient } from './gateway.client';
import { retried } from './retried';

/** As many as the lease lasts for: a gateway refuses for now what the other graphs of the token leave no memory for. */
const TRIES = Number.POSITIVE_INFINITY;
const NOTHING_YET = { progress: null, engineMs: 0 };

/** Reads the graphs of attempts that were claimed without them. Over a slow link one may take longer than a lease, which is renewed meanwhile. */
export class RemoteGraphs {
  constructor(
    private readonly client: GatewayClient,
    private readonly leaseSeconds: number,
    private readonly logger: Logger,
  ) {}

  /**
   * The graph of an attempt that this worker holds.
   *
   * @param withClaim asks for it with its claim: while gateways are updated, one of an earlier version may have no graphs apart.
   * @throws Error `AbortError` when the lease is lost, or the job is to be canceled; GatewayUnreachable when the gateway stays away; Refusal.
   */
  async read(fence: Fence, withClaim: () => Promise<string | undefined>): Promise<string> {
    const { client, logger } = this;
    const heartbeat = async (): Promise<Awaited<ReturnType<LeaseBeats['heartbeat']>>> => {
      const request = { method: 'POST', path: 'heartbeats', fence, body: NOTHING_YET } as const;
      return (await client.ask(GatewayHeartbeatAnswerSchema, request)).answer;
    };
    const lease = new LeaseKeeper({ heartbeat }, fence, this.leaseSeconds * 1_000, NOTHING_YET, logger);
    const { signal } = lease;
    const request = { method: 'GET', path: 'graph', fence, signal } as const;
    try {
      const ask = async (): Promise<string> => {
        signal.throwIfAborted();
        try {
          return (await client.ask(GatewayGraphSchema, request)).workflow;
        } catch (error) {
          const workflow = isUnknown(error) ? await withClaim() : undefined;
          if (workflow === undefined) throw error;
          return workflow;
        }
      };
      return await retried(ask, TRIES);
    } finally {
      await lease.close();
    }
  }
}

type LeaseBeats = ConstructorParameters<typeof LeaseKeeper>[0];
