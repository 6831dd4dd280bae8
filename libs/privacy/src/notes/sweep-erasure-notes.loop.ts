import type { Loop, LoopReport } from '@millrace/platform';
import type { ErasureNotes } from './erasure-notes';

/** Removes notes of erasures once no backup from before them is left. */
export class SweepErasureNotesLoop implements Loop {
  readonly name = 'sweep-erasure-notes';
  readonly everyMs = 6 * 3_600_000;

  /** @param keptDays how long backups of the database are kept. */
  constructor(
    private readonly notes: Pick<ErasureNotes, 'sweep'>,
    private readonly keptDays: number,
  ) {}

  runOnce(report?: LoopReport): Promise<number> {
    return this.notes.sweep(this.keptDays, (id, error) => report?.failed(id, error));
  }
}
