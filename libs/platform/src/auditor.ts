/** Something that must hold and does not. */
export interface Finding {
  /** Name of the check, e.g. `one-end-per-job`. */
  check: string;
  /** What it was found on: an id, or a name. */
  subject: string;
  /** One sentence: what is there, and what should be. */
  detail: string;
}

/** Proves that what a lib owns is as its invariants say. For operators and for tests; reads only. */
export interface Auditor {
  /** What is audited, e.g. `jobs`. */
  readonly name: string;
  /** Yields what is found, as it is found; nothing in a sound system. Memory stays bounded however much is read. */
  findings(): AsyncIterable<Finding>;
}
