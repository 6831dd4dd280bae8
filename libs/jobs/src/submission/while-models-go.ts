import { Refusal } from '@millrace/contracts';
import { isModelGone } from './library-models.store';

/** Each look finds what the one before named and is gone; more looks than this meet somebody who deletes and uploads all the time. */
const LOOKS = 3;

/**
 * Look up what a job names and record it, and where a model was deleted in between, once more: the next look misses it, and says so.
 *
 * @throws what `work` does; Refusal `invalid_workflow` where that goes on.
 */
export async function whileModelsGo<T>(work: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isModelGone(error)) throw error;
      if (looks === LOOKS)
        throw new Refusal('invalid_workflow', 'A model that the workflow names was deleted meanwhile.');
    }
  }
}
