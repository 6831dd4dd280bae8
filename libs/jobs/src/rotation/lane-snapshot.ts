/** An attempt that has had its turn, and that no worker has claimed. */
export interface UnclaimedAttempt {
  /** Of its job. */
  id: string;
  /** It waits for a worker that has room for its models, in no lane (`dispatch/set-aside.store.ts`). */
  isSetAside: boolean;
}

/** A pool's attempts between their turn and their start, at one moment. */
export class LaneSnapshot {
  /** How many they are; jobs that wait for their turn start after them. */
  readonly length: number;
  /** How many are in the lane, the others being set aside: they are among what the pool counts as in flight. */
  readonly inLane: number;
  private readonly places: ReadonlyMap<string, number>;

  /** @param unclaimed in the order in which they went to the lane, those that are set aside last. */
  constructor(unclaimed: readonly UnclaimedAttempt[]) {
    this.length = unclaimed.length;
    this.inLane = unclaimed.filter(({ isSetAside }) => !isSetAside).length;
    this.places = new Map(unclaimed.map(({ id }, nth) => [id, nth + 1]));
  }

  /** @returns 1 for the next to start. One that is not here has had its turn since, and is behind all that are. */
  placeOf(jobId: string): number {
    return this.places.get(jobId) ?? this.length + 1;
  }
}
