import type { Redis } from 'ioredis';
import { ControlMessageSchema, type ControlMessage } from '@millrace/contracts';

const channelOf = (poolId: string): string => `millrace:control:${poolId}`;

/** Send a message to a pool's workers. Lossy by design; never rejects. */
export async function sendControl(redis: Redis, poolId: string, message: ControlMessage): Promise<void> {
  if (redis.status !== 'ready') return;
  await redis.publish(channelOf(poolId), JSON.stringify(message)).catch(() => undefined);
}

/** Receive the messages to a pool's workers, on a connection of its own. */
export function listenForControl(redis: Redis, poolId: string, listener: (message: ControlMessage) => void): void {
  redis.on('message', (channel: string, text: string) => {
    // A connection may listen to several pools.
    const message = channel === channelOf(poolId) ? parseMessage(text) : null;
    if (message !== null) listener(message);
  });
  void redis.subscribe(channelOf(poolId)).catch(() => undefined);
}

function parseMessage(text: string): ControlMessage | null {
  try {
    return ControlMessageSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
