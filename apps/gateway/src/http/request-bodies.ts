import { BodiesInFlight, Turns } from '@millrace/platform';

/** Each takes a connection to PostgreSQL, of which a process has ten. */
const ANSWERS_AT_A_TIME = 2;

/** The bodies and large answers that this process has in memory, and the order in which it looks at them. */
export class RequestBodies {
  private readonly inFlight: BodiesInFlight;
  /** What is made of one takes several times its size. */
  private readonly alone = new Turns(1, 'catalogues', { whose: 'all' });

  private readonly answers = new Turns(ANSWERS_AT_A_TIME, 'claims and warm-ups', { whose: 'caller' });

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

  /** Count bytes that are there already. */
  hold(tokenId: string, bytes: number): void {
    this.inFlight.hold(tokenId, bytes);
  }

  /**
   * Make what may be a large answer, as one with a graph is: two of a token at a time, and none while what its workers have not yet
   * taken is too much. What was made is not refused any more: a claim that its worker never learned of would cost the job an attempt.
   *
   * @throws Refusal `rate_limited`; what `work` throws.
   */
  answer<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    return this.answers.run(tokenId, () => {
      this.inFlight.assertRoom(tokenId);
      return work();
    });
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

  /** The same for a graph that is read for an answer, in a queue apart: no heartbeat or end waits for graphs. */
  graphInTurn<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    return this.inFlight.turns.run(`${tokenId} graphs`, work);
  }
}
