import type { Redis } from 'ioredis';
import { Sealer, type KeyRing } from '@millrace/platform';

const keyOf = (jobId: string): string => `millrace:secret:${jobId}`;

/** Delete a job's credentials; needs no key. Never rejects: what cannot be deleted now expires at the job's deadline. */
export async function forgetSecret(redis: Redis, jobId: string): Promise<void> {
  await redis.del(keyOf(jobId)).catch(() => undefined);
}

/** Whose credentials they are, and for which run. */
export interface SecretOwner {
  accountId: string;
  jobId: string;
}

/**
 * Credentials that are forwarded for one run. They exist sealed, bound to their account and job, in a Redis that keeps nothing
 * on disk, and in the memory of the processes that forward them; nowhere else.
 */
export class EphemeralSecrets {
  private readonly sealer: Sealer;

  /** @param ring known to api and worker only. */
  constructor(
    private readonly redis: Redis,
    ring: KeyRing,
  ) {
    this.sealer = new Sealer(ring, 'job credentials');
  }

  /** @throws when Redis is away: the submission then fails as a whole, before a job exists. */
  async put({ accountId, jobId }: SecretOwner, secret: Record<string, string>, ttlSeconds: number): Promise<void> {
    const sealed = this.sealer.seal(JSON.stringify(secret), [accountId, jobId]);
    await this.redis.set(keyOf(jobId), sealed, 'EX', ttlSeconds);
  }

  /** @returns null when Redis has lost it. @throws when Redis is away. */
  async get({ accountId, jobId }: SecretOwner): Promise<Record<string, string> | null> {
    const sealed = await this.redis.getBuffer(keyOf(jobId));
    if (sealed === null) return null;
    return JSON.parse(this.sealer.open(sealed, [accountId, jobId], jobId)) as Record<string, string>;
  }

  /** Never rejects. */
  delete(jobId: string): Promise<void> {
    return forgetSecret(this.redis, jobId);
  }
}
