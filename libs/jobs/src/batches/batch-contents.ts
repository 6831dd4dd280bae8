import { Refusal, type BatchAdmission, type BatchFault, type JobMetadata } from '@millrace/contracts';
import type { GraphTemplate } from '@millrace/workflow';
import { ITEM_FAULTS, itemFaultOf, type ExaminedItem } from '../examination';
import { withOwnLabels } from '../labels';
import { inputAssetsOf, type FoundReferences } from '../submission';

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

  /** As it is known so far: what is refused in the copy, is not here. */
  copy(): BatchContents {
    const copy = Object.assign(new BatchContents(), this, { items: [...this.items] });
    return Object.assign(copy, { faults: [...this.faults] });
  }

  /** Keep the jobs that have the labels of the sub-key that submits them, or can have them. @param own null: no sub-key. */
  withLabels(own: JobMetadata | null): void {
    this.items = this.acceptable((item) => ({ ...item, metadata: withOwnLabels(own, item.metadata) }));
  }

  /** Keep the jobs whose assets and models the account has now. */
  withReferences(found: FoundReferences): AdmittedItem[] {
    const items = this.acceptable((item) => ({ ...item, inputAssetIds: inputAssetsOf(item, found) }));
    this.items = items;
    return items;
  }

  /** @param read throws a refusal for what is not acceptable. */
  private acceptable<Item>(read: (item: ExaminedItem) => Item): Item[] {
    return this.items.flatMap((item) => {
      try {
        return [read(item)];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.refuse(item.index, error);
        return [];
      }
    });
  }

  private refuse(index: number, refusal: Refusal): void {
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
    const many = this.isDecided ? `At least ${this.faultCount}` : String(this.faultCount);
    throw batchRefused(`${many} of the ${this.itemCount}`, this.faults, this.faultCount);
  }
}

/**
 * The refusal of a batch of which nothing is recorded.
 *
 * @param faults the first of `count`.
 */
export function batchRefused(many: string, faults: readonly BatchFault[], count: number): Refusal {
  const named = faults.slice(0, NAMED_FAULTS).map(({ index, message }) => `Job ${index}: ${message}`);
  const message = `${many} jobs cannot be accepted; nothing was recorded. ${named.join(' ')}`;
  return new Refusal('batch_refused', message, { details: { items: faults, refused: count } });
}
