import { Refusal, type BatchAdmission, type BatchFault, type JobMetadata } from '@millrace/contracts';
import type { GraphTemplate } from '@millrace/workflow';
import {
  ITEM_FAULTS,
  inputAssetsOf,
  itemFaultOf,
  withOwnLabels,
  type ExaminedItem,
  type FoundReferences,
} from '../submission';

/** A job of a batch that can be recorded. */
export interface AdmittedItem extends ExaminedItem {
  inputAssetIds: string[];
}

/** Faults named in a message; the rest is in the details. */
const NAMED_FAULTS = 3;

/** What of a batch is accepted, as far as it is known. It holds no more of what is refused than an answer lists. */
export class BatchContents {
  admission: BatchAdmission = 'all';
  template: GraphTemplate | null = null;
  itemCount = 0;
  items: ExaminedItem[] = [];
  readonly faults: BatchFault[] = [];
  faultCount = 0;
  graphBytes = 0;

  /** Keep the jobs that have the labels of the sub-key that submits them, or can have them. @param own null: no sub-key. */
  withLabels(own: JobMetadata | null): ExaminedItem[] {
    return this.acceptable(this.items, (item) => ({ ...item, metadata: withOwnLabels(own, item.metadata) }));
  }

  /** Keep the jobs whose assets and models the account has. */
  withReferences(items: readonly ExaminedItem[], found: FoundReferences): AdmittedItem[] {
    return this.acceptable(items, (item) => ({ ...item, inputAssetIds: inputAssetsOf(item, found) }));
  }

  /** @param read throws a refusal for what is not acceptable. */
  private acceptable<T extends { index: number }, U>(items: readonly T[], read: (item: T) => U): U[] {
    return items.flatMap((item) => {
      try {
        return [read(item)];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.refuse(item.index, error);
        return [];
      }
    });
  }

  refuse(index: number, refusal: Refusal): void {
    this.addFaults([itemFaultOf(index, refusal)], 1);
  }

  addFaults(faults: readonly BatchFault[], count: number): void {
    this.faultCount += count;
    this.faults.push(...faults.slice(0, ITEM_FAULTS - this.faults.length));
    this.faults.sort((a, b) => a.index - b.index);
  }

  /** Whether any more jobs need be looked at: when all must be accepted, an answer lists no more faults than it has. */
  get isDecided(): boolean {
    return this.admission === 'all' && this.faultCount >= ITEM_FAULTS;
  }

  /** @throws Refusal `batch_refused` when all must be accepted and one cannot, or when none is left. */
  assertAdmissible(accepted: number): void {
    if (this.faultCount === 0 || (this.admission === 'each' && accepted > 0)) return;
    const named = this.faults.slice(0, NAMED_FAULTS).map(({ index, message }) => `Job ${index}: ${message}`);
    const many = this.isDecided ? `At least ${this.faultCount}` : String(this.faultCount);
    const message = `${many} of the ${this.itemCount} jobs cannot be accepted; nothing was recorded. ${named.join(' ')}`;
    throw new Refusal('batch_refused', message, { details: { items: this.faults, refused: this.faultCount } });
  }
}
