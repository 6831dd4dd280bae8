import { GatewayGraphSchema, type GatewayAttempt } from '@millrace/contracts';
import type { JobFailure, ReportedEnding } from '@millrace/jobs';
import { joinSignals, type Logger } from '@millrace/platform';
import { LAST_FREE_ATTEMPT, LeaseKeeper, endOf, reportEnd, type EndReport } from '../attempt';
import { isNotHeld, isUnknown } from './gateway.client';
import { RemoteAttempt, type AttemptAccess } from './remote-attempt';
import { retried } from './retried';

/** Minutes: a gateway refuses for now what the other graphs of the token leave no memory for. */
const TRIES = 40;
const NOTHING_YET = { progress: null, engineMs: 0 };

/** An attempt with all that it needs. */
type WholeAttempt = GatewayAttempt & { workflow: string };

/** Reads the graphs of attempts that were claimed without them. Over a slow link one may take longer than a lease, which is renewed meanwhile. */
export class RemoteGraphs {
  constructor(
    private readonly access: AttemptAccess,
    /** Of an attempt whose claim does not say it. */
    private readonly leaseSeconds: number,
    private readonly logger: Logger,
  ) {}

  /**
   * An attempt that this worker holds, with its graph.
   *
   * @param withClaim claims it again, with its graph: while gateways are updated, one of an earlier version may have no graphs apart. Where the lease is over,
   * that is another attempt, and the one to run.
   * @param leaving aborts when the worker must go: the attempt is then given back.
   * @returns null where it ended without its graph, which is recorded.
   * @throws Error `AbortError` when the lease is lost; Refusal `forbidden` when the attempt is not held; the last error when the end cannot be recorded.
   */
  async read(
    claimed: GatewayAttempt,
    withClaim: () => Promise<GatewayAttempt | null>,
    leaving?: AbortSignal,
  ): Promise<WholeAttempt | null> {
    const { jobs } = new RemoteAttempt(this.access, claimed).parts;
    const { leaseSeconds = this.leaseSeconds } = claimed;
    const lease = new LeaseKeeper(jobs.lifecycle, claimed, leaseSeconds * 1_000, NOTHING_YET, this.logger);
    const over = joinSignals(lease.signal, ...(leaving === undefined ? [] : [leaving]));
    try {
      const whole = await this.whole(claimed, withClaim, over.signal);
      // Another attempt has a lease of its own.
      if (whole.leaseToken !== claimed.leaseToken) return whole;
      // Who runs it renews it an interval from now: by then it must not be over.
      await lease.refresh();
      over.signal.throwIfAborted();
      return { ...whole, leaseSeconds: lease.leaseSeconds };
    } catch (error) {
      if (lease.end === 'lost' || isNotHeld(error)) throw error;
      this.logger.warn({ err: error, job: claimed.jobId }, 'an attempt ends without its graph');
      await reportEnd(jobs, claimed, endWithoutGraph(claimed, lease, leaving?.aborted === true), this.logger);
      return null;
    } finally {
      over.release();
      await lease.close();
    }
  }

  private whole(
    claimed: GatewayAttempt,
    withClaim: () => Promise<GatewayAttempt | null>,
    signal: AbortSignal,
  ): Promise<WholeAttempt> {
    const request = { method: 'GET', path: 'graph', fence: claimed, signal } as const;
    const ask = async (): Promise<WholeAttempt> => {
      try {
        return { ...claimed, ...(await this.access.client.ask(GatewayGraphSchema, request)) };
      } catch (error) {
        const again = isUnknown(error) ? await withClaim() : null;
        if (again?.workflow === undefined) throw error;
        return { ...again, workflow: again.workflow };
      }
    };
    return retried(ask, { tries: TRIES, signal });
  }
}

/** What reading the graph came to: the engine was given nothing, so that the job is charged nothing, nor an attempt up to `LAST_FREE_ATTEMPT`. */
function endWithoutGraph(
  { attempt }: GatewayAttempt,
  { end: lease }: Pick<LeaseKeeper, 'end'>,
  draining: boolean,
): EndReport {
  if (lease === null && !draining && attempt > LAST_FREE_ATTEMPT) {
    return { kind: 'given_up', loss: { by: 'worker', reason: 'its graph could not be read' } };
  }
  const end = endOf({ run: { status: 'interrupted' }, lease, outputs: { status: 'stored' }, draining });
  return end.kind === 'finished' ? finishedBy(end) : { kind: 'handed_back' };
}

function finishedBy({ ending, failure }: { ending: ReportedEnding; failure: JobFailure | null }): EndReport {
  return {
    kind: 'finished',
    result: { ending, failure, engineMs: 0, progress: null, nodes: null, log: null },
    last: null,
  };
}
