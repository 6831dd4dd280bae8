/** A violated invariant. */
export interface Finding {
  /** Name of the check, e.g. `one-end-per-job`. */
  check: string;
  /** What it was found on: an id, or a name. */
  subject: string;
  /** One sentence: what is there, and what should be. */
  detail: string;
}

/** Checks that the invariants of a lib hold for its data. For operators and for tests; changes nothing but notes of what it found. */
export interface Auditor {
  /** What is audited, e.g. `jobs`. */
  readonly name: string;
  /**
   * Yields violations as they are found; none in a sound system. Memory is bounded for any amount of data.
   *
   * @param seen counts what was looked at, by its name, where an auditor says it.
   */
  findings(seen?: Partial<Record<string, number>>): AsyncIterable<Finding>;
}
