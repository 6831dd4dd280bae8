import type { ServerResponse } from 'node:http';
import { Refusal } from '@millrace/contracts';
import { whenClosed, type SharedBytes } from '@millrace/platform';

/**
 * The bytes of a request that are in memory: of its body, and of its large answer. They count until the client has taken the answer, or is
 * gone, and no work with them is under way or waits any more: the body of a sender who left waits in memory for its turn all the same.
 */
export class HeldBytes {
  private bytes = 0;
  /** What keeps them in memory: the answer that is still to come, and each piece of work with them. */
  private uses = 0;
  private hasLeft = false;

  /**
   * @param payer whose limit they count against.
   * @param response absent where nobody waits for one: then they count while work with them is under way.
   */
  constructor(
    private readonly shared: SharedBytes,
    private readonly payer: string,
    response: ServerResponse | undefined,
  ) {
    this.hasLeft = response?.closed ?? false;
    if (response === undefined || this.hasLeft) return;
    this.uses = 1;
    whenClosed(response, () => {
      this.hasLeft = true;
      this.end();
    });
  }

  /**
   * Count more of them.
   *
   * @param counted bytes of the same body that count already.
   * @throws Refusal `rate_limited` while too many are in flight.
   */
  take(bytes: number, counted = 0): void {
    this.shared.take(this.payer, bytes, counted);
    this.add(bytes);
  }

  /** Count more of an answer that has begun. @throws Refusal `rate_limited` above the limit of the payer. */
  takeMore(bytes: number): void {
    this.shared.takeMore(this.payer, bytes);
    this.add(bytes);
  }

  /** Count more that are there already, however many there are. */
  hold(bytes: number): void {
    this.shared.hold(this.payer, bytes);
    this.add(bytes);
  }

  /** @throws Refusal `rate_limited` where there is no room for more of them now. */
  assertFits(bytes: number): void {
    this.shared.assertFits(this.payer, bytes);
  }

  /**
   * Do something that has them in memory, waiting for a turn included. Of a sender who has left they count no more, so that nothing is begun.
   *
   * @throws Refusal as `assertAwaited`; what `work` throws.
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.assertAwaited();
    this.uses += 1;
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Before work begins that had to wait. @throws Refusal `invalid_request` once nobody waits for the answer any more. */
  assertAwaited(): void {
    if (!this.hasLeft) return;
    throw new Refusal('invalid_request', 'The connection ended before this request had its turn; nothing was done.', {
      status: 400,
    });
  }

  private add(bytes: number): void {
    this.bytes += bytes;
    if (this.uses === 0) this.release();
  }

  private end(): void {
    this.uses -= 1;
    if (this.uses === 0) this.release();
  }

  private release(): void {
    this.shared.release(this.payer, this.bytes);
    this.bytes = 0;
  }
}
