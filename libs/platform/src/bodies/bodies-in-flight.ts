import { Refusal } from '@millrace/contracts';
import { LoopShares } from '../loop-shares';
import { Turns, type Rest } from '../turns';
import { SharedBytes, type ByteLimits } from './shared-bytes';

const RETRY_SECONDS = 2;
/** A body of 10 MB takes some 100 ms of a core here, and as much of PostgreSQL. */
const LARGE_BODIES_AT_A_TIME = 1;
const LARGE_BODY_REST: Rest = { times: 3, isAlways: true };
/** Of small bodies of one payer in a turn of the event loop. One of 16 KiB in which every name is wrong takes up to 6 ms. */
const SMALL_BYTES_PER_TURN = 16_384;

/**
 * Counts the bytes of bodies and of large answers that are kept in memory, until the answer is out. Files that are only
 * passed on do not count.
 */
export class BodiesInFlight extends SharedBytes {
  /** Of what is done with large bodies: those of one payer wait for each other. */
  readonly turns: Turns;
  /** Of what is done with small bodies, by their bytes. */
  readonly loopShares: LoopShares;
  /**
   * Answers to polls and what event streams show, within the same limits, but not with the bodies, of which a few slow ones would have them
   * refused: the official client ends its run at a poll that is. So one of each account is always taken; others of it, and those of callers without an
   * account, as bodies are.
   */
  readonly polls: SharedBytes;
  private ofStrangers: BodiesInFlight | undefined;

  /**
   * @param limits of the requests of all, and of one account or worker token.
   * @param rest of a payer after each large body.
   * @param parent whose turns they take, and with whose bytes they count.
   */
  constructor(limits: ByteLimits, rest: Rest = LARGE_BODY_REST, parent?: BodiesInFlight) {
    super(limits, tooMuch, { parent });
    this.turns = parent?.turns ?? new Turns(LARGE_BODIES_AT_A_TIME, 'large requests', { whose: 'caller', rest });
    this.loopShares = parent?.loopShares ?? new LoopShares(SMALL_BYTES_PER_TURN);
    this.polls = new SharedBytes(limits, tooMuch, { parent: parent?.polls, isFirstTaken: parent === undefined });
  }

  /**
   * Bodies of callers without an account, each of whom pays by its address. Together they have what one account has: anyone has many
   * addresses.
   */
  get strangers(): BodiesInFlight {
    const { bytesPerPayer } = this.limits;
    this.ofStrangers ??= new BodiesInFlight({ bytes: bytesPerPayer, bytesPerPayer }, undefined, this);
    return this.ofStrangers;
  }
}

function tooMuch(whose: 'payer' | 'all', limit: number): Refusal {
  const callers = whose === 'payer' ? 'this caller' : 'all callers';
  const message = `The bodies of ${callers} that are being processed are near ${limit} bytes, which is the limit; send this again later.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
}
