import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { GATEWAY_HEADERS, Refusal, isUuid } from '@millrace/contracts';
import type { WorkerTokenHolder } from '@millrace/deployments';
import type { RemoteAttempt, RemoteAttempts } from '@millrace/jobs';
import { LoadingCache } from '@millrace/platform';

/** What may be lost is taken for an attempt that was held so long ago, in milliseconds: it comes several times a second. */
const RECENT_MS = 2_000;
const MAX_RECENT = 10_000;

/** The fence that a request names: job and attempt in its path, the lease token in a header. */
export interface NamedFence {
  jobId: string;
  attempt: number;
  leaseToken: string;
}

/** Reads the fence of a request. What cannot be one is held by nobody. */
export const Fenced = createParamDecorator((_: unknown, context: ExecutionContext): NamedFence => {
  const request = context.switchToHttp().getRequest<IncomingMessage & { params: Record<string, string> }>();
  const { job = '', attempt = '' } = request.params;
  const leaseToken = String(request.headers[GATEWAY_HEADERS.lease] ?? '');
  if (!isUuid(job) || !/^[1-9]\d{0,3}$/.test(attempt) || !isUuid(leaseToken)) throw notHeld(attempt, job);
  return { jobId: job.toLowerCase(), attempt: Number(attempt), leaseToken };
});

/** The attempts that the workers of a token hold. Every request for an attempt comes through here first. */
export class HeldAttempts {
  private readonly recent: LoadingCache<RemoteAttempt | null>;
  private readonly asked = new Map<string, [NamedFence, WorkerTokenHolder]>();

  constructor(private readonly attempts: Pick<RemoteAttempts, 'find'>) {
    this.recent = new LoadingCache({
      max: MAX_RECENT,
      ttlMs: RECENT_MS,
      load: (key) => {
        const asked = this.asked.get(key);
        this.asked.delete(key);
        return asked === undefined ? Promise.resolve(null) : this.attempts.find(...asked);
      },
    });
  }

  /** @returns null where no worker of the token holds the attempt. */
  find(fence: NamedFence, holder: WorkerTokenHolder): Promise<RemoteAttempt | null> {
    return this.attempts.find(fence, holder);
  }

  /** @throws Refusal `forbidden` where no worker of the token holds the attempt. */
  async get(fence: NamedFence, holder: WorkerTokenHolder): Promise<RemoteAttempt> {
    const held = await this.attempts.find(fence, holder);
    if (held === null) throw notHeld(String(fence.attempt), fence.jobId);
    return held;
  }

  /** The same for what may be lost: the answer may be two seconds old. @throws Refusal `forbidden`. */
  async getRecent(fence: NamedFence, holder: WorkerTokenHolder): Promise<RemoteAttempt> {
    const key = [holder.tokenId, fence.jobId, fence.attempt, fence.leaseToken].join(' ');
    if (!this.recent.has(key)) this.asked.set(key, [fence, holder]);
    const held = await this.recent.get(key);
    if (held === null) throw notHeld(String(fence.attempt), fence.jobId);
    return held;
  }
}

function notHeld(attempt: string, jobId: string): Refusal {
  const named = `attempt ${attempt.slice(0, 10)} of job ${jobId.slice(0, 40)}`;
  return new Refusal(
    'forbidden',
    `You do not hold ${named}: its lease was lost, or it never was yours. Stop working on it.`,
  );
}
