/** Micro-credits in one credit. All money is integer micro-credits, in `bigint`: a double is never part of a sum. */
export const MICROS_PER_CREDIT = 1_000_000n;

/**
 * What engine time costs, rounded up to the next micro-credit.
 *
 * @param billableMs whole milliseconds of engine time.
 * @param priceMicrosPerSecond price snapshot of the job.
 */
export function costMicros(billableMs: bigint, priceMicrosPerSecond: bigint): bigint {
  return (billableMs * priceMicrosPerSecond + 999n) / 1000n;
}

/** A run as a heartbeat sees it. */
export interface MeteredRun {
  heldMicros: bigint;
  priceMicrosPerSecond: bigint;
  /** Engine time so far. */
  engineMs: bigint;
}

/** How holds are extended while a job runs. */
export interface ExtensionTerms {
  /** A hold is extended when it does not cover the run so far and this much more. */
  leadMs: bigint;
  /** Engine time that one extension pays for. */
  stepMs: bigint;
}

/**
 * By how much to extend a run's hold before it is used up; 0 while it is ample. The account may have less than that: it
 * then gives what it has.
 */
export function extensionMicros(run: MeteredRun, { leadMs, stepMs }: ExtensionTerms): bigint {
  const short = costMicros(run.engineMs + leadMs, run.priceMicrosPerSecond) - run.heldMicros;
  if (short <= 0n) return 0n;
  const step = costMicros(stepMs, run.priceMicrosPerSecond);
  return step > short ? step : short;
}

/** True when a run has used all that is held for it: it may not go on. */
export function isExhausted({ engineMs, heldMicros, priceMicrosPerSecond }: MeteredRun): boolean {
  return priceMicrosPerSecond > 0n && costMicros(engineMs, priceMicrosPerSecond) >= heldMicros;
}

/** Micro-credits as people read them: `1.5`, `0.000001`. */
export function creditsText(micros: bigint): string {
  const sign = micros < 0n ? '-' : '';
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % MICROS_PER_CREDIT)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${sign}${size / MICROS_PER_CREDIT}${fraction === '' ? '' : `.${fraction}`}`;
}
