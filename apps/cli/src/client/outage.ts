import { type CliFailure, type Host, ServiceFailure, ServiceRedirect, ServiceRefusal } from '../process';

const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** After failed reads for this long nothing is read any more. */
const GIVE_UP_MS = 300_000;
/** Between two reads no more than this counts: the machine slept, or its clock was set, and nothing was asked meanwhile. */
const MAX_GAP_MS = MAX_RETRY_AFTER_MS;

/** Bridges an outage of a service that is read again and again. */
export class Outage {
  /** When the last read failed; null once one was answered. */
  private missedAtMs: number | null = null;
  private awayMs = 0;

  /** @param cure what goes on at the service when it does not end, and how it is taken up again. */
  constructor(
    private readonly host: Pick<Host, 'nowMs' | 'wait'>,
    private readonly cure: string,
  ) {}

  /** The service has answered. */
  ended(): void {
    this.missedAtMs = null;
    this.awayMs = 0;
  }

  /**
   * A read has failed.
   *
   * @returns milliseconds that the service asks to wait, at most `MAX_RETRY_AFTER_MS`.
   * @throws {ServiceFailure} when reads have failed for five minutes, {ServiceRefusal} and {ServiceRedirect} as `goingOn`, and what is no error of the service.
   */
  missed(error: unknown): number {
    if (error instanceof ServiceRefusal && error.facts.status === 429) this.ended();
    else if (error instanceof ServiceRefusal || error instanceof ServiceRedirect) throw goingOn(error, this.cure);
    else if (!(error instanceof ServiceFailure)) throw error;
    else if (this.failedForMs() >= GIVE_UP_MS)
      throw new ServiceFailure(`The service has not answered for five minutes. ${error.message}`, {
        ...error.facts,
        cure: this.cure,
      });
    return Math.min(MAX_RETRY_AFTER_MS, (error.facts.retryAfterSeconds ?? 0) * 1000);
  }

  private failedForMs(): number {
    const nowMs = this.host.nowMs();
    if (this.missedAtMs !== null) this.awayMs += Math.min(MAX_GAP_MS, Math.max(0, nowMs - this.missedAtMs));
    this.missedAtMs = nowMs;
    return this.awayMs;
  }
}

/**
 * A refusal, or another address, ends the watching, such as that of a key which has ended, and not what is watched: unless that is gone.
 *
 * @param how what goes on, and how it is taken up again.
 */
export function goingOn(failure: CliFailure, how: string): CliFailure {
  if (failure.facts.status !== 404) failure.facts.goesOn = how;
  return failure;
}

/**
 * Read until the service answers, for five minutes at most.
 *
 * @param cure as of `Outage`.
 * @throws as `Outage.missed`.
 */
export async function untilAnswered<T>(
  host: Pick<Host, 'nowMs' | 'wait'>,
  cure: string,
  read: () => Promise<T>,
): Promise<T> {
  const outage = new Outage(host, cure);
  for (let pauses = 0; ; pauses += 1) {
    try {
      return await read();
    } catch (error) {
      await host.wait(Math.max(outage.missed(error), Math.min(MAX_PAUSE_MS, PAUSE_MS * 1.5 ** pauses)));
    }
  }
}
