import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';

const keyOf = (jobId: string): string => `millrace:secret:${jobId}`;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Delete a job's credentials; needs no key. Never rejects: what cannot be deleted now expires at the job's deadline. */
export async function forgetSecret(redis: Redis, jobId: string): Promise<void> {
  await redis.del(keyOf(jobId)).catch(() => undefined);
}

/**
 * Credentials that are forwarded for one run. They exist sealed (AES-256-GCM, NIST SP 800-38D, bound to the job's id) in a
 * Redis that keeps nothing on disk, and in the memory of the processes that forward them; nowhere else.
 */
export class EphemeralSecrets {
  /** @param key 32 bytes, known to api and worker only. */
  constructor(
    private readonly redis: Redis,
    private readonly key: Buffer,
  ) {}

  /** @throws when Redis is away: the submission then fails as a whole, before a job exists. */
  async put(jobId: string, secret: Record<string, string>, ttlSeconds: number): Promise<void> {
    await this.redis.set(keyOf(jobId), this.seal(jobId, JSON.stringify(secret)), 'EX', ttlSeconds);
  }

  /** @returns null when Redis has lost it. @throws when Redis is away. */
  async get(jobId: string): Promise<Record<string, string> | null> {
    const sealed = await this.redis.getBuffer(keyOf(jobId));
    return sealed === null ? null : (JSON.parse(this.open(jobId, sealed)) as Record<string, string>);
  }

  /** Never rejects. */
  delete(jobId: string): Promise<void> {
    return forgetSecret(this.redis, jobId);
  }

  private seal(jobId: string, text: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(jobId));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]);
  }

  private open(jobId: string, sealed: Buffer): string {
    const iv = sealed.subarray(0, IV_BYTES);
    const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(jobId)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  }
}
