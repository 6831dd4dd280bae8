import type { Redis } from 'ioredis';
import { ControlMessageSchema, type ControlMessage } from '@millrace/contracts';

const channelOf = (poolId: string): string => `millrace:control:${poolId}`;

/** Send a message to a pool's workers. Lossy by design; never rejects. */
export async function sendControl(redis: Redis, poolId: string, message: ControlMessage): Promise<void> {
  if (redis.status !== 'ready') return;
  await redis.publish(channelOf(poolId), JSON.stringify(message)).catch(() => undefined);
}

/** Receive the messages to a pool's workers, on a connection for subscriptions. While Redis is away none comes and nothing fails. */
export function listenForControl(redis: Redis, poolId: string, listener: (message: ControlMessage) => void): void {
  redis.on('message', (channel: string, text: string) => {
    // A connection may listen to several pools.
    const message = channel === channelOf(poolId) ? parseMessage(text) : null;
    if (message !== null) listener(message);
  });
  const subscribe = (): void => void redis.subscribe(channelOf(poolId)).catch(() => undefined);
  redis.on('ready', subscribe);
  if (redis.status === 'ready') subscribe();
}

function parseMessage(text: string): ControlMessage | null {
  try {
    return ControlMessageSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
