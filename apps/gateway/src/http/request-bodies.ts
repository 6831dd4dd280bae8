import { BodiesInFlight, Turns } from '@millrace/platform';

/** The bodies that this process has in memory, and the order in which it looks at them. */
export class RequestBodies {
  private readonly inFlight: BodiesInFlight;
  /** What is made of one takes several times its size. */
  private readonly alone = new Turns(1, 'catalogues', { whose: 'all' });

  /** @param limits bytes of all tokens, and of one. */
  constructor({ bytes, bytesPerToken }: { bytes: number; bytesPerToken: number }) {
    this.inFlight = new BodiesInFlight({ bytes, bytesPerPayer: bytesPerToken });
  }

  /** @throws Refusal `rate_limited`. */
  take(tokenId: string, bytes: number): void {
    this.inFlight.take(tokenId, bytes);
  }

  release(tokenId: string, bytes: number): void {
    this.inFlight.release(tokenId, bytes);
  }

  /**
   * Work on a body of a token when those before it are done and have rested: three times as long as the last took, up to two
   * seconds. Then others have the event loop.
   *
   * @throws Refusal `rate_limited` when too many wait; what `work` throws.
   */
  inTurn<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    return this.inFlight.turns.run(tokenId, work);
  }

  /** The same for one body of the process at a time, in a queue apart: nothing short waits for it. */
  inTurnAlone<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    return this.inFlight.turns.run(`${tokenId} alone`, () => this.alone.run('', work));
  }
}
