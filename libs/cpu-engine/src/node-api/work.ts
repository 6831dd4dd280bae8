/**
 * What a computation may ask of the run that it is part of. Every allocation of pixels goes through here, so that a run
 * stays within its memory budget, and every loop over rows polls here, so that it stops when the run is interrupted.
 */
export interface Work {
  /** @throws {RunInterrupted} when the run has been asked to stop. Cheap: once per row is right. */
  checkpoint(): void;
  /**
   * `count` zeroed floats.
   *
   * @throws {NodeFault} before anything is allocated, when the run would pass its memory budget.
   */
  floats(count: number): Float32Array;
  /** `count` zeroed bytes, under the same rule. */
  bytes(count: number): Uint8Array;
  /** Account for `bytes` that a library is about to allocate, under the same rule. */
  reserve(bytes: number): void;
  /** Run a part of the computation of whose allocations nothing lives on: what it was charged is given back. */
  temporarily<T>(part: () => T): T;
}

/** Thrown through a node's code when the run was asked to stop. */
export class RunInterrupted extends Error {
  constructor() {
    super('The run was interrupted.');
    this.name = 'RunInterrupted';
  }
}
