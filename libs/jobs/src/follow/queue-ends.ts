/** Both ends of what an account has waiting in a pool, as one statement read them. */
export interface QueueEndsRow {
  /** How many jobs wait. */
  waiting: number;
  /** Ids of the next to start, in their order. */
  first: string[];
  /** Ids of the last to start, the very last one first; those that are not among the first. */
  last: string[];
}

/** An id begins with the milliseconds at which it was made (RFC 9562, version 7). */
const TIME_DIGITS = 12;

/**
 * How many jobs are before one in its account's queue: exact near both ends, which is everywhere in a queue of default length.
 * Of the many between them it is an estimate from the time of submission, as if they had come evenly.
 */
export class QueueEnds {
  constructor(private readonly row: QueueEndsRow) {}

  /**
   * Whether the job can have been in the queue when it was read. One that is after the last, or not in a queue that was read
   * whole, came since.
   */
  covers(id: string): boolean {
    const { waiting, first, last } = this.row;
    if (first.includes(id) || last.includes(id)) return true;
    const [newest = ''] = last;
    return first.length + last.length < waiting && id < newest && id > (first.at(-1) ?? '');
  }

  /** Jobs before this one. */
  ahead(id: string): number {
    const { waiting, first, last } = this.row;
    const fromStart = first.indexOf(id);
    if (fromStart !== -1) return fromStart;
    const fromEnd = last.indexOf(id);
    if (fromEnd !== -1) return waiting - 1 - fromEnd;
    const begin = first.at(-1);
    const end = last.at(-1);
    // It has had its turn since it was read as waiting.
    if (begin === undefined || id < begin) return 0;
    if (end === undefined || id > end) return waiting;
    const share = (timeOf(id) - timeOf(begin)) / Math.max(1, timeOf(end) - timeOf(begin));
    return first.length + Math.round(share * (waiting - first.length - last.length));
  }
}

function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, TIME_DIGITS), 16);
}
