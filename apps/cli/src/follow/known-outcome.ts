import type { Writes } from '../client';
import { type Host, Interrupted, ServiceFailure, wasNotSent } from '../process';
import { InterruptGuard } from './interrupt-guard';

/**
 * Send a request whose outcome must be known. One without an answer may have had its effect (contract, 4.1, rule 5).
 *
 * @param cure says what is not known then, and what to do.
 * @throws {Interrupted | ServiceFailure} with that cure, and {ServiceRefusal}.
 */
export async function knownOutcome<T>(guard: InterruptGuard, cure: string, request: () => Promise<T>): Promise<T> {
  try {
    return await guard.submitting(request);
  } catch (error) {
    if (guard.signal.aborted) throw new Interrupted('Interrupted before the answer came.', cure);
    if (error instanceof ServiceFailure && !wasNotSent(error)) error.facts.cure = cure;
    throw error;
  }
}

/** Ctrl-C during a write: the first one waits for its answer and ends the command after it, a second one leaves at once. */
export class WriteGuard implements Writes {
  private isPressed = false;

  constructor(
    private readonly host: Host,
    private readonly note: (line: string) => void,
  ) {}

  goOn(): void {
    if (this.isPressed) throw new Interrupted('Interrupted; nothing more was sent.');
  }

  answered<T>(cure: string, request: () => Promise<T>): Promise<T> {
    const guard = new InterruptGuard(this.host, { note: this.note });
    return guard.guarding(async () => {
      try {
        return await knownOutcome(guard, cure, request);
      } finally {
        this.isPressed ||= guard.isPressed;
      }
    });
  }
}
