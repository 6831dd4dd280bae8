import { setTimeout as delay } from 'node:timers/promises';

const TRIES = 4;
const PAUSE_MS = 250;

/**
 * Find out or set right what a lost connection left unknown, a few times within a second: others of the pool may be lost with it.
 *
 * @param work may be done twice.
 * @throws what the last try failed with.
 */
export async function repeatBriefly<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES) throw error;
      await delay(PAUSE_MS);
    }
  }
}
