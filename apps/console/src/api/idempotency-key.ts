import { ANSWER_LOST, ApiError } from './api-error';

/**
 * A key under which a request may be repeated (contract, section 4): 128 random bits in hexadecimal. `crypto.randomUUID` exists only where
 * the page came over HTTPS or from this machine, and a service of one's own is also reached by the address of its host.
 */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keys of acts that were sent and may have been done, by what they do. They are gone with the page. */
const unanswered = new Map<string, string>();

/** Whether an act was sent, and no answer has said yet what became of it. */
export function isUnanswered(act: string): boolean {
  return unanswered.has(act);
}

/**
 * Send an act that must not be done twice. Until an answer says what became of it, it has the same Idempotency-Key, also after its dialog
 * was closed and opened again. A refusal says nothing about an earlier try; one of the key itself says that the earlier try was done.
 *
 * @param act what it does, and to what.
 * @throws ApiError as `send` does.
 */
export async function sendOnce<T>(act: string, send: (key: string) => Promise<T>): Promise<T> {
  const earlier = unanswered.get(act);
  const key = earlier ?? newIdempotencyKey();
  unanswered.set(act, key);
  try {
    const answer = await send(key);
    forget(act, key);
    return answer;
  } catch (error) {
    // Of two that were sent at once the other's end may have been the first, and have let the key go.
    if (isDefinite(error, earlier === undefined)) forget(act, key);
    else unanswered.set(act, key);
    throw error;
  }
}

function forget(act: string, key: string): void {
  if (unanswered.get(act) === key) unanswered.delete(act);
}

function isDefinite(error: unknown, isFirstTry: boolean): boolean {
  if (!(error instanceof ApiError) || error.code === ANSWER_LOST) return false;
  return isFirstTry || error.code === 'idempotency_key_reuse';
}
