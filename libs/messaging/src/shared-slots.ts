import type { Redis } from 'ioredis';

/** A place is free again this long after its process renewed it for the last time. */
const LEASE_MS = 30_000;
/** Between two renewals of the places that a process holds; two may fail. */
export const RENEW_SLOTS_EVERY_MS = 10_000;

const keyOf = (name: string): string => `millrace:slots:${name}`;

/**
 * Take places for the members ARGV[3..], ARGV[1] of them at most in all, or any number where it is -1. The places are a sorted
 * set by the time at which they expire, on Redis' own clock.
 *
 * Returns 1, or 0 when there is no room.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local limit = tonumber(ARGV[1])
if limit >= 0 and redis.call('ZCARD', KEYS[1]) + #ARGV - 2 > limit then return 0 end
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

const COUNT = `
local time = redis.call('TIME')
return redis.call('ZCOUNT', KEYS[1], '(' .. (time[1] * 1000 + math.floor(time[2] / 1000)), '+inf')`;

/**
 * Places of which all processes together take a limited number, such as the open streams of an account. A process that ends
 * without giving its places back loses them after 30 s. Redis may lose all of them: their processes take them again when
 * they renew.
 */
export class SharedSlots {
  constructor(private readonly redis: Redis) {}

  /** Take a place unless `limit` are taken. @returns whether there was one. @throws when Redis is away. */
  async take(name: string, member: string, limit: number): Promise<boolean> {
    return (await this.redis.eval(TAKE, 1, keyOf(name), limit, LEASE_MS, member)) === 1;
  }

  /** Give a place back. @throws when Redis is away. */
  async release(name: string, member: string): Promise<void> {
    await this.redis.zrem(keyOf(name), member);
  }

  /** How many places are taken. @throws when Redis is away. */
  async count(name: string): Promise<number> {
    return Number(await this.redis.eval(COUNT, 1, keyOf(name)));
  }

  /** Keep places for another lease, all in one round trip. @throws when Redis is away. */
  async renew(members: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const pipeline = this.redis.pipeline();
    for (const [name, ids] of members) pipeline.eval(TAKE, 1, keyOf(name), -1, LEASE_MS, ...ids);
    const failed = (await pipeline.exec())?.find(([error]) => error !== null);
    if (failed?.[0]) throw failed[0];
  }
}
