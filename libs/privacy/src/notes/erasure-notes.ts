import { z } from 'zod';
import type { NoteStore } from '@millrace/assets';
import { createdAtOf, isUuid, type ErasureSubject } from '@millrace/contracts';
import { Sealer, type KeyRing } from '@millrace/platform';
import type { Erasure } from '../erasure';

const FOLDER = 'erasures/';
const DAY_MS = 86_400_000;
/** Notes that one call drops, and deletions under way at once: a store that takes a second for each leaves it far within a lease. */
const DROPPED = 500;
const DROPPED_AT_ONCE = 32;
/** Notes that cannot be deleted, and none that can: it is the store. */
const FAILURES_OF_A_STORE = 1_000;

/** What has to be known of an erasure to carry it out again. */
export interface NotedErasure extends Pick<Erasure, 'id' | 'accountId' | 'pseudonym'> {
  subject: ErasureSubject;
}

/** The name of a note: whose erasure, and which. */
export interface NoteName {
  accountId: string;
  id: string;
}

/** A note as it is listed, and when it was last written. */
export interface ListedNote extends NoteName {
  modifiedAt: Date;
}

/** A label and its value name somebody, and are sealed; ids name nobody any more. */
const NoteSchema = z.discriminatedUnion('subject', [
  z.object({ subject: z.literal('account'), pseudonym: z.string() }),
  z.object({ subject: z.literal('job'), pseudonym: z.string(), job_id: z.uuid() }),
  z.object({ subject: z.literal('label'), pseudonym: z.string(), sealed: z.base64() }),
]);
const LabelSchema = z.object({ label: z.string(), value: z.string() });

/**
 * Notes of erasures beside the bytes, where no restore of the database takes them back: what was erased since a backup is erased again by
 * them. A note is there before anything of its erasure is deleted, and as long as there may be a backup from before.
 */
export class ErasureNotes {
  private readonly sealer: Sealer;

  constructor(
    private readonly notes: NoteStore,
    private readonly ring: KeyRing,
  ) {
    this.sealer = new Sealer(ring, 'erasure notes');
  }

  /** Keep the note of an erasure. @throws BlobStoreError. */
  async keep({ id, accountId, pseudonym, subject }: NotedErasure): Promise<void> {
    const note = { subject: subject.kind, pseudonym, ...this.partsOf({ id, accountId }, subject) };
    await this.notes.put(nameOf({ accountId, id }), JSON.stringify(note));
  }

  /** Delete notes of other erasures of an account, for which that of the account itself stands: some of them. @returns how many; 0: none is left. @throws BlobStoreError. */
  async dropOthers({ id, accountId }: NoteName): Promise<number> {
    const names: string[] = [];
    for await (const other of noteNames(this.notes, accountId)) {
      if (other.id !== id) names.push(nameOf(other));
      if (names.length === DROPPED) break;
    }
    for (let from = 0; from < names.length; from += DROPPED_AT_ONCE) {
      await Promise.all(names.slice(from, from + DROPPED_AT_ONCE).map((name) => this.notes.delete(name)));
    }
    return names.length;
  }

  /**
   * @returns null when it is gone.
   * @throws when it cannot be read: its key is no longer in the ring, or it was altered; BlobStoreError.
   */
  async read({ accountId, id }: NoteName): Promise<NotedErasure | null> {
    const text = await this.notes.get(nameOf({ accountId, id }));
    if (text === null) return null;
    const note = NoteSchema.parse(JSON.parse(text));
    return { id, accountId, pseudonym: note.pseudonym, subject: this.subjectOf({ accountId, id }, note) };
  }

  /**
   * Delete notes that no backup can be older than. One that cannot be deleted keeps no other.
   *
   * @param keptDays how long backups of the database are kept.
   * @param failed is called with each note that could not be deleted.
   * @returns how many were deleted.
   * @throws the first error when none could be deleted; BlobStoreError when the listing fails.
   */
  async sweep(keptDays: number, failed: (id: string, error: unknown) => void): Promise<number> {
    const before = Date.now() - keptDays * DAY_MS;
    let gone = 0;
    let failures = 0;
    let first: unknown;
    for await (const name of noteNames(this.notes)) {
      if (createdAtOf(name.id) >= before) continue;
      try {
        await this.notes.delete(nameOf(name));
        gone += 1;
      } catch (error) {
        first ??= error;
        failures += 1;
        failed(name.id, error);
        if (gone === 0 && failures === FAILURES_OF_A_STORE) break;
      }
    }
    if (failures > 0 && gone === 0) throw first;
    return gone;
  }

  /**
   * The notes that a former key of the ring may have sealed, in no particular order; none where the ring has one key alone. They are listed
   * while they are taken: there may be millions.
   *
   * @throws BlobStoreError.
   */
  async *formerlySealed(): AsyncGenerator<ListedNote> {
    if (this.ring.hasFormer) yield* noteNames(this.notes);
  }

  /**
   * Seal a note again, with the first key of the ring. One that an account's erasure deletes meanwhile may be back: it is repeated to no effect after a
   * restore, and swept with the others.
   *
   * @returns false where there is nothing to do: it is gone, names nobody, or that key has sealed it.
   * @throws as `read` does.
   */
  async reseal({ accountId, id }: NoteName): Promise<boolean> {
    const text = await this.notes.get(nameOf({ accountId, id }));
    if (text === null) return false;
    const note = NoteSchema.parse(JSON.parse(text));
    const { head } = this.sealer;
    if (note.subject !== 'label' || Buffer.from(note.sealed, 'base64').subarray(0, head.length).equals(head))
      return false;
    const subject = this.subjectOf({ accountId, id }, note);
    await this.notes.put(
      nameOf({ accountId, id }),
      JSON.stringify({ ...note, ...this.partsOf({ accountId, id }, subject) }),
    );
    return true;
  }

  private partsOf({ accountId, id }: NoteName, subject: ErasureSubject): object {
    if (subject.kind === 'job') return { job_id: subject.jobId };
    if (subject.kind === 'account') return {};
    const { label, value } = subject;
    return { sealed: this.sealer.seal(JSON.stringify({ label, value }), [accountId, id]).toString('base64') };
  }

  private subjectOf({ accountId, id }: NoteName, note: z.output<typeof NoteSchema>): ErasureSubject {
    if (note.subject === 'job') return { kind: 'job', jobId: note.job_id };
    if (note.subject === 'account') return { kind: 'account' };
    const text = this.sealer.open(Buffer.from(note.sealed, 'base64'), [accountId, id], '');
    return { kind: 'label', ...LabelSchema.parse(JSON.parse(text)) };
  }
}

/** The names of all notes, or of those of an account, in no particular order. @throws BlobStoreError. */
export async function* noteNames(notes: NoteStore, ofAccount?: string): AsyncGenerator<ListedNote> {
  for await (const { name, modifiedAt } of notes.list(ofAccount === undefined ? FOLDER : `${FOLDER}${ofAccount}/`)) {
    const [accountId = '', id = ''] = name.slice(FOLDER.length).split('/');
    // Somebody else's file says nothing here.
    if (isUuid(accountId) && isUuid(id)) yield { accountId, id, modifiedAt };
  }
}

const nameOf = ({ accountId, id }: NoteName): string => `${FOLDER}${accountId}/${id}`;
