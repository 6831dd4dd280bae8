import { Refusal } from '@millrace/contracts';
import { Turns, type Rest } from '../turns';

const RETRY_SECONDS = 2;
/** A body of 10 MB takes some 100 ms of a core here, and as much of PostgreSQL. */
const LARGE_BODIES_AT_A_TIME = 1;
const LARGE_BODY_REST: Rest = { times: 3, isAlways: true };

/** How many bytes of bodies a process keeps in memory at once. */
export interface BodyLimits {
  /** Of all requests. */
  bytes: number;
  /** Of the requests of one account or worker token, or of one address where the caller has neither. */
  bytesPerPayer: number;
}

/**
 * Counts the bytes of bodies and of large answers that are kept in memory, until the answer is out. Files that are only
 * passed on do not count. A body is not refused for its own size here: where nothing else is in flight, it passes.
 */
export class BodiesInFlight {
  private total = 0;
  private readonly byPayer = new Map<string, number>();
  /** Of what is done with large bodies: those of one payer wait for each other. */
  readonly turns: Turns;

  /** @param rest of a payer after each large body. */
  constructor(
    private readonly limits: BodyLimits,
    rest: Rest = LARGE_BODY_REST,
  ) {
    this.turns = new Turns(LARGE_BODIES_AT_A_TIME, 'large requests', { whose: 'caller', rest });
  }

  /** @throws Refusal `rate_limited`. */
  take(payer: string, bytes: number): void {
    const own = this.byPayer.get(payer) ?? 0;
    const { bytes: most, bytesPerPayer } = this.limits;
    if (own > 0 && own + bytes > bytesPerPayer) throw tooMuch('this caller', bytesPerPayer);
    if (this.total > 0 && this.total + bytes > most) throw tooMuch('all callers', most);
    this.hold(payer, bytes);
  }

  /** Count bytes that are there already, however many there are. */
  hold(payer: string, bytes: number): void {
    this.total += bytes;
    this.byPayer.set(payer, (this.byPayer.get(payer) ?? 0) + bytes);
  }

  /** Of what is large, and cannot be refused once its size is known: a payer of whom nothing is in flight may begin it. @throws Refusal `rate_limited`. */
  assertRoom(payer: string): void {
    const own = this.byPayer.get(payer) ?? 0;
    const { bytes: most, bytesPerPayer } = this.limits;
    if (own >= bytesPerPayer) throw tooMuch('this caller', bytesPerPayer);
    if (own > 0 && this.total >= most) throw tooMuch('all callers', most);
  }

  release(payer: string, bytes: number): void {
    this.total -= bytes;
    const left = (this.byPayer.get(payer) ?? 0) - bytes;
    if (left > 0) this.byPayer.set(payer, left);
    else this.byPayer.delete(payer);
  }
}

function tooMuch(whose: string, limit: number): Refusal {
  const message = `The bodies of ${whose} that are being processed are ${limit} bytes, which is the limit; send this again later.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
}
