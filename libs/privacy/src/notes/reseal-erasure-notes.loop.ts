import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { ErasureNotes, ListedNote } from './erasure-notes';

const BATCH = 100;
/** More than the clock of a store may differ from ours: S3 refuses requests with a greater difference. */
const CLOCKS_MS = 15 * 60_000;
/** Notes that failed and are remembered, to bound the memory. */
const REMEMBERED = 10_000;

/**
 * Seals notes of erasures again that a former key of the ring sealed, so that the key can be removed (docs/operations.md). To look at a
 * note is to read it from the store, so a round reads what was written since the round before, and what failed. Of the notes themselves
 * it remembers none.
 */
export class ResealErasureNotesLoop implements Loop {
  readonly name = 'reseal-erasure-notes';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<ListedNote>;
  /** The listing of the round under way: a store has no cursor to begin at. */
  private listing: AsyncIterator<ListedNote> | undefined;
  /** Where the clock stood when that round began, Unix milliseconds. */
  private beganMs = 0;
  /** Whether that round listed every note, and remembers each that failed. */
  private isWhole = false;
  /** What was written before, Unix milliseconds, was looked at, except for what failed. */
  private lookedAtMs = 0;
  private readonly failed = new Set<string>();

  constructor(
    private readonly notes: Pick<ErasureNotes, 'formerlySealed' | 'reseal'>,
    private readonly nowMs: () => number = () => Date.now(),
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => this.page(after, limit),
      keyOf: ({ id }) => id,
      work: (note) => this.work(note),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private async page(after: string | null, limit: number): Promise<ListedNote[]> {
    const listing = after === null || this.listing === undefined ? this.begin() : this.listing;
    const page: ListedNote[] = [];
    try {
      while (page.length < limit) {
        const next = await listing.next();
        if (next.done === true) {
          this.listing = undefined;
          break;
        }
        page.push(next.value);
      }
    } catch (error) {
      // A listing that was cut off has no more to give: the next one begins with the first note.
      this.isWhole = false;
      this.listing = undefined;
      throw error;
    }
    return page;
  }

  private begin(): AsyncIterator<ListedNote> {
    if (this.isWhole) this.lookedAtMs = this.beganMs - CLOCKS_MS;
    this.beganMs = this.nowMs();
    this.isWhole = true;
    this.listing = this.notes.formerlySealed()[Symbol.asyncIterator]();
    return this.listing;
  }

  private async work(note: ListedNote): Promise<boolean> {
    if (note.modifiedAt.getTime() < this.lookedAtMs && !this.failed.has(note.id)) return false;
    try {
      const isChanged = await this.notes.reseal(note);
      this.failed.delete(note.id);
      return isChanged;
    } catch (error) {
      if (this.failed.size < REMEMBERED) this.failed.add(note.id);
      else if (!this.failed.has(note.id)) this.isWhole = false;
      throw error;
    }
  }
}
