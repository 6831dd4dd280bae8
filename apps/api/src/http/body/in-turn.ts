import { SMALL_SUBMISSION_BYTES } from '@millrace/jobs';
import { contextOf } from '../request-context';
import { heldBytesOf } from './hold-bytes';
import { senderOf } from './sender';

/**
 * Do what a request's body asks for: when it is small, in this turn of the event loop or in one of the next (`LoopShares`), else when the
 * other large requests of its account have been done, and three times as long as was spent on the last one has passed. So one account has one body among those that wait for a thread
 * (`SubmissionExaminer`), however many it sends and however soon, and takes a fourth of a thread's time at most
 * (`SUBMISSION_REST`). Batches have turns of their own by the same rule (`BatchExaminer`).
 * What it waits for besides, a thread or the database, counts for nothing, so that no account is held up by the load of others.
 * The body counts as in flight while it waits. What has not begun when its sender leaves is not done: who sends it again would pay for both.
 * Nor is what had to wait and whose sender has no access any more.
 *
 * @param work calls `spend` with the milliseconds that the body took of threads, this one among them, and elsewhere.
 * @throws Refusal `rate_limited` when too many wait, `invalid_request` when the sender left meanwhile, `unauthorized` and
 * `forbidden` when they lost access; what `work` throws.
 */
export function inTurn<T>(
  request: object,
  body: Uint8Array,
  work: (spend: (ms: number) => void) => Promise<T>,
): Promise<T> {
  const { bodies, payer } = contextOf(request);
  if (body.byteLength <= SMALL_SUBMISSION_BYTES) {
    const begin = (): Promise<T> => work(() => undefined);
    return bodies.loopShares.take(payer, body.byteLength)?.then(begin) ?? begin();
  }
  const sender = senderOf(request);
  return heldBytesOf(request).during(() =>
    bodies.turns.run(payer, async (spend) => {
      spend(0);
      await sender.begin();
      return work(spend);
    }),
  );
}
