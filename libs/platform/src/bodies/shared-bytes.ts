import type { Refusal } from '@millrace/contracts';

/** Of a request: the reserve beyond the limit of all is for those that have no more. */
const SMALL_BYTES = 65_536;
/** Of the limit of all. */
const RESERVE = 1 / 8;

/** How many bytes are in memory at once. */
export interface ByteLimits {
  /** Of all payers. */
  bytes: number;
  /** Of one of them. */
  bytesPerPayer: number;
}

/** What is refused when there is no room, of whom it counts, and how many bytes the limit is. */
export type NoRoom = (whose: 'payer' | 'all', limitBytes: number) => Refusal;

export interface SharedBytesOptions {
  /** Where these count too, all payers of these together as one. */
  parent?: SharedBytes | undefined;
  /** Others refuse nothing of a payer of whom nothing is there. */
  isFirstTaken?: boolean;
}

/**
 * Counts bytes in memory, by who pays for them. A payer of whom some are there gets more only while as many stay free for others as it has
 * then: whichever payers take what they can, the next has room. What is small has a reserve besides. Nothing is refused for its own size
 * where it is alone.
 */
export class SharedBytes {
  private total = 0;
  private readonly byPayer = new Map<string, number>();

  constructor(
    protected readonly limits: ByteLimits,
    private readonly noRoom: NoRoom,
    private readonly options: SharedBytesOptions = {},
  ) {}

  /** Count bytes; see `assertFits`. @throws Refusal. */
  take(payer: string, bytes: number, counted = 0): void {
    this.assertFits(payer, bytes, counted);
    this.hold(payer, bytes);
  }

  /**
   * @param bytes that a payer wants to have in memory.
   * @param counted bytes of the same thing that count already: both are looked at as one.
   * @throws Refusal where there is no room for them now.
   */
  assertFits(payer: string, bytes: number, counted = 0): void {
    const own = this.bytesOf(payer) - counted;
    const whole = bytes + counted;
    const { bytesPerPayer } = this.limits;
    if (own > 0 && own + whole > bytesPerPayer) throw this.noRoom('payer', bytesPerPayer);
    const { parent, isFirstTaken = false } = this.options;
    if (isFirstTaken && own === 0) return;
    this.assertSpare(own, whole, counted);
    parent?.assertSpare(this.total - counted, whole, counted);
  }

  /** Count more bytes of what has begun: others do not refuse it any more. @throws Refusal above the limit of the payer. */
  takeMore(payer: string, bytes: number): void {
    const own = this.bytesOf(payer);
    const { bytesPerPayer } = this.limits;
    if (own > 0 && own + bytes > bytesPerPayer) throw this.noRoom('payer', bytesPerPayer);
    this.hold(payer, bytes);
  }

  /** Count bytes that are there already, however many there are. */
  hold(payer: string, bytes: number): void {
    this.count(bytes);
    const own = this.bytesOf(payer) + bytes;
    if (own > 0) this.byPayer.set(payer, own);
    else this.byPayer.delete(payer);
  }

  release(payer: string, bytes: number): void {
    this.hold(payer, -bytes);
  }

  /** Of what is large, and cannot be refused once its size is known: a payer of whom nothing is there may begin it. @throws Refusal. */
  assertRoom(payer: string): void {
    const own = this.bytesOf(payer);
    const { bytes, bytesPerPayer } = this.limits;
    if (own >= bytesPerPayer) throw this.noRoom('payer', bytesPerPayer);
    if (own > 0 && this.total >= bytes) throw this.noRoom('all', bytes);
  }

  private assertSpare(own: number, whole: number, counted: number): void {
    const there = this.total - counted;
    const { bytes } = this.limits;
    const most = whole <= SMALL_BYTES ? bytes * (1 + RESERVE) : bytes;
    if (there > 0 && own + there + whole > most) throw this.noRoom('all', bytes);
  }

  private bytesOf(payer: string): number {
    return this.byPayer.get(payer) ?? 0;
  }

  private count(bytes: number): void {
    this.total += bytes;
    this.options.parent?.count(bytes);
  }
}
