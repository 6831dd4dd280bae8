import { Refusal } from '@millrace/contracts';
import { SharedBytes } from '@millrace/platform';

/** What one account may have of the whole. */
const SHARE_OF_ACCOUNT = 1 / 3;
const RETRY_SECONDS = 5;
/** What has arrived may take so much: a buffer doubles when it is full. */
const TIMES_ARRIVED = 2;

/** Whose upload it is, and how much memory it may take. */
export interface UploadMemory {
  accountId: string;
  /** The account is one of those that callers of demos have, one for each network: they count together as one account, too. */
  isShared: boolean;
  /** Null where the request declares none. */
  declaredBytes: number | null;
  /** What one upload takes at most, however large it is. */
  mostBytes: number;
}

/** The memory of one upload. */
export interface PlaceInMemory {
  /** So many bytes have arrived in all. @throws Refusal `rate_limited` where there is no room for them. */
  arrived(bytes: number): void;
  /** Further calls do nothing. */
  leave(): void;
}

/**
 * Counts the memory of uploads under way, where the store keeps parts of them in memory. An upload may take hours, so it is
 * not counted with the bodies of other requests: those would wait for it.
 *
 * It counts as it arrives: most are small, and clients declare no length. So an upload may be refused while its first bytes come, and never
 * once it has all the memory that it takes. None waits for room: those that wait, each with a part of a part, could all wait for each other.
 */
export class StagingMemory {
  private readonly all: SharedBytes;
  private readonly shared: SharedBytes;

  /** @param limitBytes of all uploads of the process. One upload alone is never refused. */
  constructor(limitBytes: number) {
    const bytesPerPayer = limitBytes * SHARE_OF_ACCOUNT;
    this.all = new SharedBytes({ bytes: limitBytes, bytesPerPayer }, noRoom);
    this.shared = new SharedBytes({ bytes: bytesPerPayer, bytesPerPayer }, noRoom, { parent: this.all });
  }

  /** Have a place for an upload. @throws Refusal `rate_limited` where there is no room now for what it declares. */
  enter({ accountId, isShared, declaredBytes, mostBytes }: UploadMemory): PlaceInMemory {
    const memory = isShared ? this.shared : this.all;
    const memoryOf = (bytes: number): number => Math.min(TIMES_ARRIVED * bytes, mostBytes);
    const declared = memoryOf(declaredBytes ?? 0);
    if (declared > 0) memory.assertFits(accountId, declared);
    let taken = 0;
    return {
      arrived: (bytes) => {
        const more = memoryOf(bytes) - taken;
        if (more <= 0) return;
        memory.take(accountId, more, taken);
        taken += more;
      },
      leave: () => {
        memory.release(accountId, taken);
        taken = 0;
      },
    };
  }
}

function noRoom(whose: 'payer' | 'all'): Refusal {
  const subject = whose === 'payer' ? 'This account has' : 'All accounts together have';
  const message = `${subject} as many uploads under way as this process takes in at a time; wait for one to end.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
}
