import type { ComfyuiClient, Queue } from './comfyui.client';
import type { HistoryEntry } from './history';

/** A prompt that has ended, or where it is: waiting, running, or nowhere on the server. */
export type PromptLocation = { entry: HistoryEntry } | { queue: Queue; place: 'pending' | 'running' | 'gone' };

/**
 * Where a prompt is, by history and queue; asked in an order in which a prompt that ends in between is not missed.
 *
 * @throws {Unreachable} when the server does not answer
 */
export async function locatePrompt(client: ComfyuiClient, promptId: string): Promise<PromptLocation> {
  const entry = await client.history(promptId);
  if (entry) return { entry };
  const queue = await client.queue();
  if (queue.running.includes(promptId)) return { queue, place: 'running' };
  if (queue.pending.includes(promptId)) return { queue, place: 'pending' };
  const late = await client.history(promptId);
  return late ? { entry: late } : { queue, place: 'gone' };
}
