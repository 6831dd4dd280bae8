import { randomUUID } from 'node:crypto';
import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { crashPoint } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import { claimAttempt, lockClaim, repeatClaim, type Claimed, type JobEvents } from '../lifecycle';
import type { ClaimedAttempt } from '../state';

/** Who claims. */
export interface Claimant {
  workerId: string;
  /** An attempt of another pool is not there to be taken. */
  poolId: string;
  /** The token of the lease, where the worker has chosen it to be able to ask again. Absent: one is made. */
  claimId?: string | undefined;
}

/**
 * Claims, in the statements of a caller: several of them may commit together. What follows a claim that has committed is `begin`, or where it
 * was answered before, `resume`.
 */
export class Claims {
  constructor(
    private readonly events: Pick<JobEvents, 'started' | 'lastProgress'>,
    private readonly settings: Pick<JobSettings, 'leaseSeconds'>,
  ) {}

  /**
   * Take an attempt that is dispatched.
   *
   * @param isSetAside it was set aside: its account takes a turn with it.
   * @returns null when it is no longer there to be taken, or not for this worker; that is no error.
   */
  async claim(
    statements: Statements,
    { jobId, attempt, models }: Pick<DispatchMessage, 'jobId' | 'attempt' | 'models'>,
    { workerId, poolId, claimId: leaseToken = randomUUID() }: Claimant,
    { isSetAside = false } = {},
  ): Promise<Claimed | null> {
    crashPoint('claim:before-commit');
    const { leaseSeconds } = this.settings;
    return claimAttempt(statements, { jobId, attempt, models, workerId, poolId, leaseToken, leaseSeconds, isSetAside });
  }

  /**
   * What this claim took before, where its answer did not arrive. Until the transaction ends, nobody else asks for the same claim. Nothing is
   * taken, and the lease begins again.
   *
   * @returns null where it took nothing yet, or the lease has run out.
   */
  async repeat(tx: Statements, { workerId, poolId, claimId }: Required<Claimant>): Promise<Claimed | null> {
    const { leaseSeconds } = this.settings;
    await lockClaim(tx, workerId, claimId ?? '');
    return repeatClaim(tx, { workerId, poolId, leaseToken: claimId ?? '', leaseSeconds });
  }

  /** An attempt was claimed, which has committed: publish it. @returns what its worker is to run. */
  async begin(claimed: Claimed): Promise<ClaimedAttempt> {
    crashPoint('claim:after-commit');
    if (claimed.attempt > 1) return this.resume(claimed);
    this.events.started(claimed.jobId, claimed.seq);
    return claimed;
  }

  /** An earlier attempt, or answer, may have published more than its last heartbeat, and progress never goes back. */
  async resume(claimed: Claimed): Promise<ClaimedAttempt> {
    const published = await this.events.lastProgress(claimed.jobId);
    const isNewer = published !== null && published.value > (claimed.progress?.value ?? 0);
    return isNewer ? { ...claimed, progress: published } : claimed;
  }
}
