import type {
  AttemptLoss,
  AttemptResult,
  Fence,
  Lifecycle,
  OutputDraft,
  OutputRecorder,
  RoomLack,
} from '@millrace/jobs';
import { backoffMs, type Logger } from '@millrace/platform';

/** How long a worker tries to record in PostgreSQL how an attempt ended; after that the attempt counts as lost. */
const REPORT_TIMEOUT_MS = 60_000;
const RETRY_BASE_MS = 100;
const RETRY_CAP_MS = 2_000;

/** What is recorded of the end of an attempt. */
export type EndReport =
  /** `last`: the output that is to be recorded with the end. */
  | { kind: 'finished'; result: AttemptResult; last: OutputDraft | null }
  | { kind: 'handed_back' }
  | { kind: 'no_room'; lack: RoomLack }
  | { kind: 'given_up'; loss: AttemptLoss }
  | { kind: 'lease_lost' };

/** Where it is recorded. */
interface EndRecords {
  lifecycle: Pick<Lifecycle, 'finish' | 'handBack' | 'lackRoom' | 'giveUp'>;
  outputs: Pick<OutputRecorder, 'finish'>;
}

/**
 * Records how an attempt ended, again and again while PostgreSQL is away. The fence makes recording twice harmless.
 *
 * @returns false where the end was not recorded, because its last output has to be recorded before.
 * @throws {Error} of the last try, when PostgreSQL was away for longer than 60 s
 */
export async function reportEnd(jobs: EndRecords, claimed: Fence, end: EndReport, logger: Logger): Promise<boolean> {
  const until = performance.now() + REPORT_TIMEOUT_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      if (!(await recordEnd(jobs, claimed, end))) return false;
      logger.info({ end: end.kind === 'finished' ? end.result.ending : end.kind }, 'an attempt is over');
      return true;
    } catch (error) {
      if (performance.now() > until) throw error;
      logger.warn({ err: error }, 'the end of an attempt could not be recorded yet');
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS)));
    }
  }
}

async function recordEnd({ lifecycle, outputs }: EndRecords, claimed: Fence, end: EndReport): Promise<boolean> {
  if (end.kind === 'finished') {
    if (end.last !== null) return outputs.finish(claimed, end.result, end.last);
    await lifecycle.finish(claimed, end.result);
  } else if (end.kind === 'handed_back') await lifecycle.handBack(claimed);
  else if (end.kind === 'no_room') await lifecycle.lackRoom(claimed, end.lack);
  else if (end.kind === 'given_up') await lifecycle.giveUp(claimed, end.loss);
  return true;
}
