import { setTimeout as delay } from 'node:timers/promises';
import type { ComfyuiBounds } from '../comfyui.config';
import { type ComfyuiClient, locatePrompt, TooLarge } from '../protocol';

/**
 * `stopped`: it runs no more, and has ended or was never started. `ignored`: it still does, after the grace period. `unanswered`: that is not
 * known, since some request in that time was left without an answer.
 */
export type CancelResult = 'stopped' | 'ignored' | 'unanswered';

/**
 * Cancels one run, waiting or running, without touching another: repeatedly, because an interrupt around the start of a
 * prompt can be lost, and because an answer says nothing about the effect.
 *
 * @param isOver true once the run's own messages have reported its end
 */
export async function cancelRun(
  client: ComfyuiClient,
  promptId: string,
  bounds: Pick<ComfyuiBounds, 'cancelEveryMs' | 'interruptGraceMs'>,
  isOver: () => boolean,
): Promise<CancelResult> {
  const deadlineMs = performance.now() + bounds.interruptGraceMs;
  let lasting: CancelResult = 'ignored';
  while (!isOver()) {
    const result = await tryToCancel(client, promptId);
    if (result === 'stopped') return result;
    if (result === 'unanswered') lasting = result;
    if (performance.now() >= deadlineMs) return isOver() ? 'stopped' : lasting;
    await delay(bounds.cancelEveryMs);
  }
  return 'stopped';
}

async function tryToCancel(client: ComfyuiClient, promptId: string): Promise<CancelResult> {
  try {
    return (await hasStopped(client, promptId)) ? 'stopped' : 'ignored';
  } catch (error) {
    // An entry in the history that is too large to be read is one all the same: what has none is answered with a few bytes.
    return error instanceof TooLarge ? 'stopped' : 'unanswered';
  }
}

async function hasStopped(client: ComfyuiClient, promptId: string): Promise<boolean> {
  if (!(await client.cancelJob(promptId))) {
    await client.removeQueued(promptId);
    await client.interrupt(promptId);
  }
  const found = await locatePrompt(client, promptId);
  return 'entry' in found || found.place === 'gone';
}
