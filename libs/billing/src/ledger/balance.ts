/** What an account has, in micro-credits. */
export interface Balance {
  availableMicros: bigint;
  /** Set aside for jobs that have not ended. */
  heldMicros: bigint;
}
