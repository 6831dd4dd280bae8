import { GatewayGraphSchema, GatewayHeartbeatAnswerSchema, type GatewayAttempt } from '@millrace/contracts';
import type { Logger } from '@millrace/platform';
import { LeaseKeeper, type LeaseRecords } from '../attempt';
import { isUnknown, type GatewayClient } from './gateway.client';
import { retried } from './retried';

/** Minutes: a gateway refuses for now what the other graphs of the token leave no memory for. */
const TRIES = 40;
const NOTHING_YET = { progress: null, engineMs: 0 };

/** An attempt with all that it needs. */
type WholeAttempt = GatewayAttempt & { workflow: string };

/** Reads the graphs of attempts that were claimed without them. Over a slow link one may take longer than a lease, which is renewed meanwhile. */
export class RemoteGraphs {
  constructor(
    private readonly client: GatewayClient,
    private readonly leaseSeconds: number,
    private readonly logger: Logger,
  ) {}

  /**
   * An attempt that this worker holds, with its graph.
   *
   * @param withClaim claims it again, with its graph: while gateways are updated, one of an earlier version may have no graphs apart. Where the lease is over,
   * that is another attempt, and the one to run.
   * @throws Error `AbortError` when the lease is lost, or the job is to be canceled; GatewayUnreachable when the gateway stays away; Refusal.
   */
  async read(claimed: GatewayAttempt, withClaim: () => Promise<GatewayAttempt | null>): Promise<WholeAttempt> {
    const { client, logger } = this;
    const heartbeat: LeaseRecords['heartbeat'] = async (fence, body, signal) => {
      const request = { method: 'POST', path: 'heartbeats', fence, body, signal } as const;
      return (await client.ask(GatewayHeartbeatAnswerSchema, request)).answer;
    };
    const lease = new LeaseKeeper({ heartbeat }, claimed, this.leaseSeconds * 1_000, NOTHING_YET, logger);
    const { signal } = lease;
    const request = { method: 'GET', path: 'graph', fence: claimed, signal } as const;
    try {
      const ask = async (): Promise<WholeAttempt> => {
        signal.throwIfAborted();
        try {
          return { ...claimed, ...(await client.ask(GatewayGraphSchema, request)) };
        } catch (error) {
          const again = isUnknown(error) ? await withClaim() : null;
          if (again?.workflow === undefined) throw error;
          return { ...again, workflow: again.workflow };
        }
      };
      return await retried(ask, TRIES);
    } finally {
      await lease.close();
    }
  }
}
