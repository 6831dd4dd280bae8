import type { Statements } from '@millrace/database';
import { BoundedMap } from '@millrace/platform';
import type { SpendAnomalyStore } from './spend-anomaly.store';

const HOUR_MS = 3_600_000;
const HOURS = 7 * 24;
/** Hours that are kept: those before the hour that it is now, and one more, so that the usual hour is also known of the one before it. */
const KEPT = HOURS + 1;
/** Accounts whose hours are remembered; each takes 1.5 kB. Of any beyond them the records of the whole past are read again. */
const REMEMBERED = 20_000;
/** Records that one statement reads, so that it never takes long: an account with more is read in several looks. */
const RECORDS_AT_ONCE = 200_000;

interface History {
  /** What each hour cost, at its number modulo `KEPT`. */
  micros: BigInt64Array;
  /** The first hour that is none of the past yet. */
  until: number;
  /** All records before this time are in the sums. */
  readUntil: Date;
}

/**
 * What an hour of an account usually costs: the median of the hours of the last seven days in which something was charged. The sums are kept
 * in this process's memory, so that each record is read once, and not at each look.
 */
export class UsualSpend {
  private readonly histories = new BoundedMap<History>(REMEMBERED);

  constructor(
    private readonly store: Pick<SpendAnomalyStore, 'past'>,
    private readonly recordsAtOnce = RECORDS_AT_ONCE,
  ) {}

  /**
   * Read on in what was charged before an hour.
   *
   * @param hour since 1970, UTC: the latest that was asked for, the one before it, or a later one
   * @returns micro-credits; 0 where nothing was charged, null while there is more to be read: ask again.
   */
  async before(statements: Statements, accountId: string, hour: number): Promise<bigint | null> {
    const history = this.historyOf(accountId, hour);
    const to = new Date(hour * HOUR_MS);
    if (history.readUntil < to) {
      const span = { from: history.readUntil, to };
      const { readUntil, hours } = await this.store.past(statements, accountId, span, this.recordsAtOnce);
      for (const one of hours) {
        const at = one.hour % KEPT;
        history.micros[at] = (history.micros[at] ?? 0n) + one.chargedMicros;
      }
      history.readUntil = readUntil;
    }
    return history.readUntil < to ? null : medianOf(hoursBefore(history, hour));
  }

  private historyOf(accountId: string, hour: number): History {
    const known = this.histories.get(accountId);
    const until = Math.max(known?.until ?? hour, hour);
    const begin = new Date((until - KEPT) * HOUR_MS);
    const history = known ?? { micros: new BigInt64Array(KEPT), until, readUntil: begin };
    this.histories.set(accountId, history);
    // An hour that has become past takes the place of the earliest that was kept.
    for (let over = Math.max(history.until, until - KEPT); over < until; over += 1) history.micros[over % KEPT] = 0n;
    history.until = until;
    if (history.readUntil < begin) history.readUntil = begin;
    return history;
  }
}

function hoursBefore({ micros }: History, hour: number): BigInt64Array {
  return BigInt64Array.from({ length: HOURS }, (_, nth) => micros[(hour - HOURS + nth) % KEPT] ?? 0n);
}

/** The lower one of the two in the middle; hours that cost nothing are not counted. */
function medianOf(micros: BigInt64Array): bigint {
  const charged = micros.filter((sum) => sum > 0n).sort();
  return charged[Math.ceil(charged.length / 2) - 1] ?? 0n;
}
