import { Refusal, newId } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { AccountBook, type Note } from './account-book';
import { partOf, type Balance, type LedgerStore, type Original, type Posted, type PostingStore } from '../ledger';
import type { LotStore } from './lot.store';
import { creditsText } from '../price';

/** An operator's change of an account's credits. */
export interface Adjustment {
  /** Above zero: give. Below: take back. */
  amountMicros: bigint;
  reason: string;
  /** When what is given expires; null: never. */
  expiresAt: Date | null;
  /**
   * The transaction to correct. Null: a new grant, or a take-back from the account's grants, the latest first.
   */
  corrects: string | null;
  /** Repeating it under one key does it once; null: every request counts. */
  key: string | null;
}

/** Credits as operators change them and account holders see them. */
export class CreditsService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerStore,
    private readonly postings: PostingStore,
    private readonly lots: LotStore,
  ) {}

  async balance(accountId: string): Promise<Balance> {
    return this.ledger.balance(this.database, accountId);
  }

  /**
   * Give an account credits, or take some back, in the caller's transaction. The account must exist.
   *
   * @returns its balance afterwards, and whether it was a repetition, which changes nothing.
   * @throws Refusal `invalid_request` when there is less to take back or to correct; `idempotency_key_reuse` when the key
   * came with another adjustment; `not_found` for an unknown transaction to correct.
   */
  async adjust(
    tx: Statements,
    actor: string,
    accountId: string,
    adjustment: Adjustment,
  ): Promise<Balance & { repeated: boolean }> {
    const book = await this.open(tx, accountId);
    const cause = `adjust:${accountId}:${adjustment.key ?? newId()}`;
    const repeated = adjustment.key !== null && (await this.isRepetition(tx, accountId, cause, adjustment));
    if (!repeated) await this.post(tx, book, accountId, { cause, actor, reason: adjustment.reason }, adjustment);
    return { ...book.now, repeated };
  }

  /**
   * Expire what is past its time of an account's grants.
   *
   * @param at the time to expire by; PostgreSQL's clock where it is absent.
   * @returns how many micro-credits.
   */
  async expire(accountId: string, graceMs: number, at?: Date): Promise<bigint> {
    return this.database.transaction(async (tx) => {
      const book = await this.open(tx, accountId);
      return book.expire(at ?? (await this.postings.now(tx)), graceMs);
    });
  }

  /** The account's credits, locked for the rest of the transaction. */
  async open(tx: Statements, accountId: string): Promise<AccountBook> {
    return AccountBook.open(tx, this.postings, this.lots, accountId);
  }

  private async isRepetition(
    tx: Statements,
    accountId: string,
    cause: string,
    adjustment: Adjustment,
  ): Promise<boolean> {
    const known = await this.postings.findByCause(tx, accountId, cause);
    if (known === null) return false;
    if (isSame(known, adjustment)) return true;
    const corrects = known.corrects === null ? '' : `, a correction of ${known.corrects}`;
    const expires = known.expiresAt === null ? '' : `, to expire at ${known.expiresAt.toISOString()}`;
    throw new Refusal(
      'idempotency_key_reuse',
      `This Idempotency-Key was used for another adjustment: ${creditsText(known.amountMicros)} credits, "${known.reason}"${corrects}${expires}.`,
    );
  }

  private async post(
    tx: Statements,
    book: AccountBook,
    accountId: string,
    note: Note,
    { amountMicros, corrects, expiresAt }: Adjustment,
  ): Promise<void> {
    if (corrects !== null) return this.correct(tx, book, accountId, note, corrects, amountMicros);
    if (amountMicros > 0n) {
      await book.grant(note, amountMicros, expiresAt);
      return;
    }
    await takeFromGrants(book, await this.postings.listGrants(tx, accountId), note, -amountMicros);
  }

  private async correct(
    tx: Statements,
    book: AccountBook,
    accountId: string,
    note: Note,
    corrects: string,
    amountMicros: bigint,
  ): Promise<void> {
    const original = await this.postings.findOriginal(tx, accountId, corrects);
    if (original === null) throw new Refusal('not_found', `This account's ledger has no transaction ${corrects}.`);
    const rest = original.amountMicros - original.takenBackMicros;
    if (original.kind === 'settle' && amountMicros > 0n) {
      assertWithin(amountMicros, rest, 'was charged and not yet given back');
      await book.giveBack(note, original, amountMicros);
      return;
    }
    if (original.kind === 'grant' && amountMicros < 0n) {
      assertWithin(
        -amountMicros,
        leftOf(book.left(), original),
        'is left of this grant, neither spent nor held by jobs',
      );
      await book.takeBack(note, original, -amountMicros);
      return;
    }
    if (original.givesBack && amountMicros < 0n) {
      assertWithin(-amountMicros, rest, 'this correction gave back and is not yet charged again');
      assertWithin(-amountMicros, book.availableMicros, 'is available (what jobs hold cannot be taken)');
      await book.takeBack(note, original, -amountMicros);
      return;
    }
    throw Refusal.ofFields([
      {
        field: 'corrects',
        reason:
          'must be a grant or a correction that gave back a charge, with an amount below zero to take back from, or a settlement, with one above zero to give back of',
      },
    ]);
  }
}

/**
 * Whether what was posted is what an adjustment asks for. A take-back that names no grant is compared by its amount: which grants it
 * was taken from follows from what there was.
 */
function isSame(known: Posted, { amountMicros, reason, corrects, expiresAt }: Adjustment): boolean {
  const namesNoGrant = corrects === null && amountMicros < 0n;
  const correctsSame = namesNoGrant || (known.corrects === corrects && known.parts === 1);
  const expiresSame = known.expiresAt?.getTime() === expiresAt?.getTime();
  return known.amountMicros === amountMicros && known.reason === reason && correctsSame && expiresSame;
}

/** The latest grant first; each take-back is a correction of its own that names its grant. */
async function takeFromGrants(book: AccountBook, grants: Original[], note: Note, amountMicros: bigint): Promise<void> {
  const lots = book.left();
  const rests = grants.map((grant) => ({ grant, rest: leftOf(lots, grant) })).filter(({ rest }) => rest > 0n);
  const granted = rests.reduce((sum, { rest }) => sum + rest, 0n);
  assertWithin(amountMicros, granted, "is left of the account's grants, neither spent nor held by jobs");
  let left = amountMicros;
  for (const [index, { grant, rest }] of rests.entries()) {
    if (left === 0n) break;
    const amount = rest < left ? rest : left;
    const cause = index === 0 ? note.cause : partOf(note.cause, grant.id);
    await book.takeBack({ ...note, cause }, grant, amount);
    left -= amount;
  }
}

/** What an operator can take back of a grant: what others brought, bought credits among it, is not taken for it. */
function leftOf(lots: ReadonlyMap<string, bigint>, { id, amountMicros, takenBackMicros }: Original): bigint {
  const rest = amountMicros - takenBackMicros;
  const left = lots.get(id) ?? 0n;
  return left < rest ? left : rest;
}

function assertWithin(amountMicros: bigint, mostMicros: bigint, what: string): void {
  if (amountMicros <= mostMicros) return;
  throw Refusal.ofFields([
    { field: 'amount_micros', reason: `is more than what ${what}: ${creditsText(mostMicros)} credits` },
  ]);
}
