import type { Finding } from '@millrace/platform';

/** One invariant after a run: on how much it was checked, and what broke it. */
export interface Verdict {
  invariant: string;
  /** Things that were looked at; 0 proves nothing. Null where the check does not count them, or where nothing that is there can be compared now. */
  checked: number | null;
  breaches: Finding[];
}

/** @param broken what broke the invariant. */
export function verdictOf(
  invariant: string,
  checked: number | null,
  broken: { subject: string; detail: string }[],
): Verdict {
  return { invariant, checked, breaches: broken.map((one) => ({ ...one, check: invariant })) };
}
