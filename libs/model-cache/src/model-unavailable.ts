/**
 * Why a model could not be brought to this machine.
 *
 * - `mismatch`: its bytes have another hash than the library says, also when fetched again.
 * - `gone`: the library has its bytes no more, or refuses them.
 * - `unreachable`: the library's store did not answer, or stalled.
 * - `too_large`: the models of one run need more than the cache may keep.
 * - `name_taken`: two models of one run have names that no file system has at once.
 * - `disk_full`: the disk takes no more, and nothing is left that could be evicted, or not for long.
 */
export const MODEL_FAULTS = ['mismatch', 'gone', 'unreachable', 'too_large', 'disk_full', 'name_taken'] as const;
export type ModelFault = (typeof MODEL_FAULTS)[number];

/** A model could not be staged. The message is a sentence for the owner of the job: it names the model and no path. */
export class ModelUnavailable extends Error {
  /** What the models of the run take together, where there is no room for them. */
  readonly neededBytes: number;
  /** Others use what takes the room now: they will give it back. */
  readonly isPassing: boolean;

  constructor(
    readonly fault: ModelFault,
    message: string,
    /** The name of the model at fault, as graphs have it; null where it is all of them. */
    readonly model: string | null,
    options?: ErrorOptions & { neededBytes?: number; isPassing?: boolean },
  ) {
    super(message, options);
    this.name = 'ModelUnavailable';
    this.neededBytes = options?.neededBytes ?? 0;
    this.isPassing = options?.isPassing ?? false;
  }
}
