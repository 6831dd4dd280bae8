import type { NodeError } from '@millrace/contracts';
import { invalidWorkflow } from '../examination';
import { isModelGone } from './library-models.store';

/** Each look finds what the one before named and is gone; more looks than this meet somebody who deletes and uploads all the time. */
const LOOKS = 3;

const DELETED_MEANWHILE: NodeError = {
  field: '',
  reason: 'not_in_list',
  message: `A model that the workflow names was deleted ${LOOKS} times while its job was being recorded. Submit it again when the model stays.`,
};

/**
 * Look up what a job names and record it, and where a model was deleted in between, once more: the next look misses it, and says so.
 *
 * @throws what `work` does; Refusal `invalid_workflow`, of the graph as a whole, where that goes on.
 */
export async function whileModelsGo<T>(work: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isModelGone(error)) throw error;
      if (looks === LOOKS) throw invalidWorkflow({ '': [DELETED_MEANWHILE] });
    }
  }
}
