import type { Operator } from '@millrace/accounts';
import type { Erasures } from '../erasure';
import type { ErasureNotes, NoteName, NotedErasure } from './erasure-notes';
import type { UnknownErasures } from './unknown-erasures';

/** What came of a run. */
export interface Reapplied {
  /** Erasures that are asked for again: maintenance carries them out. */
  asked: string[];
  /** Notes that could not be read, and why. */
  unreadable: { id: string; reason: string }[];
}

/**
 * Asks again for erasures that the database does not know, because it was restored to a moment before them. Safe to repeat, and where
 * nothing was restored it does nothing.
 */
export class ReappliedErasures {
  constructor(
    private readonly unknown: Pick<UnknownErasures, 'find'>,
    private readonly notes: Pick<ErasureNotes, 'read'>,
    private readonly erasures: Pick<Erasures, 'askAgain'>,
  ) {}

  /** @throws BlobStoreError; what the database throws. */
  async run(operator: Operator): Promise<Reapplied> {
    const result: Reapplied = { asked: [], unreadable: [] };
    for await (const name of this.unknown.find()) {
      const noted = await this.read(name);
      if ('reason' in noted) result.unreadable.push(noted);
      else if (await this.erasures.askAgain(operator, noted)) result.asked.push(name.id);
    }
    return result;
  }

  private async read(name: NoteName): Promise<NotedErasure | { id: string; reason: string }> {
    const nothing = { id: name.id, reason: 'it is gone' };
    try {
      return (await this.notes.read(name)) ?? nothing;
    } catch (error) {
      return { id: name.id, reason: (error as Error).message };
    }
  }
}
