import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { ErasureNotes, ListedNote } from './erasure-notes';

const BATCH = 100;

/** Seals notes of erasures again that a former key of the ring sealed, so that the key can be removed (docs/operations.md). */
export class ResealErasureNotesLoop implements Loop {
  readonly name = 'reseal-erasure-notes';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<ListedNote>;
  /** When the notes were written that have been looked at, by id: to look at one is to read it from the store. */
  private done = new Map<string, number>();
  private left: ListedNote[] = [];

  constructor(notes: Pick<ErasureNotes, 'formerlySealed' | 'reseal'>) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: async (after, limit) => {
        if (after === null) await this.list(notes);
        return this.left.filter(({ id }) => after === null || id > after).slice(0, limit);
      },
      keyOf: ({ id }) => id,
      work: async (name) => {
        const isChanged = await notes.reseal(name);
        this.done.set(name.id, name.modifiedAt.getTime());
        return isChanged;
      },
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private async list(notes: Pick<ErasureNotes, 'formerlySealed'>): Promise<void> {
    const listed = await notes.formerlySealed();
    const isDone = ({ id, modifiedAt }: ListedNote): boolean => this.done.get(id) === modifiedAt.getTime();
    this.left = listed.filter((note) => !isDone(note));
    this.done = new Map(listed.filter(isDone).map(({ id, modifiedAt }) => [id, modifiedAt.getTime()]));
  }
}
