import type { InterruptGuard } from '../follow';
import { Interrupted, ServiceFailure, wasNotSent } from '../process';

/**
 * Send a request that makes something under an idempotency key. One without an answer may have had its effect (contract, 4.1, rule 5).
 *
 * @param cure says what is not known then, and how the same is sent again under its key.
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
