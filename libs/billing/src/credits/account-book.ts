import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Balance, Book, LedgerKind, Move, Original, Posting, PostingStore } from '../ledger';
import type { LotStore } from './lot.store';
import { afterDraws, drawFrom, expiring, notHeld, type Draw, type Lot } from './lots';

/** The fields of a posting beside its amount. */
export interface Note {
  cause: string;
  actor: string;
  reason: string;
}

/**
 * The credits of one account while a transaction holds its lock: keeps postings and lots in step. No job's statement uses it.
 */
export class AccountBook {
  private constructor(
    private readonly tx: Statements,
    private readonly postings: PostingStore,
    private readonly lotStore: LotStore,
    private readonly accountId: string,
    private balance: Balance,
    private lots: Lot[],
  ) {}

  /**
   * Lock the account's credits, and draw from its lots what has left it since the last time. Lots are drawn late, but before
   * every change of them, so each charge is drawn from the lots that were there when it was made.
   */
  static async open(
    tx: Statements,
    postings: PostingStore,
    lotStore: LotStore,
    accountId: string,
  ): Promise<AccountBook> {
    const { consumedMicros, drawnMicros, ...balance } = await postings.lockBalance(tx, accountId);
    const lots = await lotStore.list(tx, accountId);
    const book = new AccountBook(tx, postings, lotStore, accountId, balance, lots);
    await book.draw(drawFrom(lots, consumedMicros - drawnMicros));
    return book;
  }

  get availableMicros(): bigint {
    return this.balance.availableMicros;
  }

  get now(): Balance {
    return { ...this.balance };
  }

  /** What of each grant and purchase is neither spent nor held, by its transaction; nothing where it is all gone. */
  left(): ReadonlyMap<string, bigint> {
    return notHeld(this.lots, this.balance.heldMicros);
  }

  /** Credits given. */
  async grant(note: Note, amountMicros: bigint, expiresAt: Date | null): Promise<string> {
    return this.bring('grant', note, 'promotions', amountMicros, { expiresAt });
  }

  /** Credits paid for. They do not expire. */
  async topUp(note: Note, amountMicros: bigint): Promise<string> {
    return this.bring('top_up', note, 'payments', amountMicros, {});
  }

  /** Restore what was taken back of a top-up whose money stayed after all. */
  async restore(note: Note, { id: corrects }: Original, amountMicros: bigint): Promise<string> {
    return this.bring('correction', note, 'payments', amountMicros, { corrects });
  }

  /** Give back what a settlement charged. It does not expire. */
  async giveBack(note: Note, { id: corrects, jobId }: Original, amountMicros: bigint): Promise<string> {
    return this.bring('correction', note, 'revenue', amountMicros, { corrects, jobId });
  }

  /** Take back what a grant, a top-up or a give-back brought: from its own lot first, from the others what it no longer has. */
  async takeBack(note: Note, original: Original, amountMicros: bigint): Promise<string> {
    const move: Move = { from: 'available', to: originOf(original), amountMicros };
    const id = await this.post('correction', note, move, { corrects: original.id, jobId: original.jobId });
    const own = this.lots.filter((lot) => lot.transactionId === original.id);
    const remaining = own[0]?.remainingMicros ?? 0n;
    const first = drawFrom(own, remaining < amountMicros ? remaining : amountMicros);
    const drawn = first[0]?.amountMicros ?? 0n;
    const others = this.lots.filter((lot) => lot.transactionId !== original.id);
    await this.draw([...first, ...drawFrom(others, amountMicros - drawn)]);
    return id;
  }

  /** Expire what is past its time. @returns how much. */
  async expire(at: Date, graceMs: number): Promise<bigint> {
    const draws = expiring(this.lots, this.balance, at, graceMs);
    let total = 0n;
    for (const { transactionId, amountMicros } of draws) {
      const note = { cause: `expire:${newId()}`, actor: 'maintenance', reason: 'The grant has expired.' };
      const move: Move = { from: 'available', to: 'promotions', amountMicros };
      await this.post('expire', note, move, { corrects: transactionId });
      total += amountMicros;
    }
    if (draws.length > 0) await this.lotStore.expire(this.tx, this.accountId, draws);
    this.lots = afterDraws(this.lots, draws);
    return total;
  }

  private async bring(
    kind: LedgerKind,
    note: Note,
    from: Book,
    amountMicros: bigint,
    more: Partial<Posting>,
  ): Promise<string> {
    const id = await this.post(kind, note, { from, to: 'available', amountMicros }, more);
    const lot = { transactionId: id, remainingMicros: amountMicros, expiresAt: more.expiresAt ?? null };
    await this.lotStore.open(this.tx, this.accountId, lot);
    this.lots.push(lot);
    return id;
  }

  private async post(kind: LedgerKind, note: Note, move: Move, more: Partial<Posting>): Promise<string> {
    const id = newId();
    const { tx, accountId } = this;
    const none = { corrects: null, jobId: null, expiresAt: null };
    await this.postings.post(tx, { ...none, ...more, ...note, id, accountId, kind, moves: [move] });
    const change = move.to === 'available' ? move.amountMicros : -move.amountMicros;
    this.balance = { ...this.balance, availableMicros: this.balance.availableMicros + change };
    return id;
  }

  private async draw(draws: Draw[]): Promise<void> {
    if (draws.length > 0) await this.lotStore.draw(this.tx, this.accountId, draws);
    this.lots = afterDraws(this.lots, draws);
  }
}

/** The book from which a transaction brought its credits. */
function originOf({ kind, givesBack }: Original): Book {
  if (givesBack) return 'revenue';
  return kind === 'top_up' ? 'payments' : 'promotions';
}
