import type { Target } from '@millrace/deployments';
import { Turns } from '@millrace/platform';
import { BATCH_REST, type KnownModels, type SubmissionExaminer } from '../examination';
import type { SubmissionChecks } from '../submission';

/** Of one account. */
const EXAMINED_AT_A_TIME = 1;

type ExamineBatch = SubmissionExaminer['examineBatch'];
export type TakeSlice = Parameters<ExamineBatch>[2];
export type Examine = (body: Uint8Array, target: Pick<Target, 'catalogue'>, take: TakeSlice) => Promise<void>;

/**
 * Examines batches, new ones and what is tried again of them, one of an account after the other. After each the next waits three times as
 * long as threads worked on it (`BATCH_REST`), while what was examined is recorded: so no account takes more than a fourth of a thread's time.
 */
export class BatchExaminer {
  private readonly turns = new Turns(EXAMINED_AT_A_TIME, 'batches', { rest: BATCH_REST });

  constructor(
    private readonly examiner: Pick<SubmissionExaminer, 'examineBatch'>,
    private readonly checks: Pick<SubmissionChecks, 'knownModels'>,
  ) {}

  /**
   * Do what examines one batch when it is the account's turn, and the whole of it in that turn.
   *
   * @param work gets what examines jobs, to be called once or for some of them at a time.
   * @throws Refusal `rate_limited` when too many wait; what `work` throws.
   */
  inTurn<T>(accountId: string, work: (examine: Examine) => Promise<T>): Promise<T> {
    const library: KnownModels = (names) => this.checks.knownModels(accountId, names);
    return this.turns.run(accountId, (spend) => {
      // Waiting, for a thread or the database, counts for nothing, also where it is in vain.
      spend(0);
      return work((body, target, take) => this.examiner.examineBatch(body, target, take, library, spend));
    });
  }
}
