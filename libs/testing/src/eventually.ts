const STEP_MS = 15;
/** Reached only by what will never come, also on a machine that is many times slower. */
const LIMIT_MS = 120_000;

/**
 * Wait until a fact holds: `look` is called until it returns something other than undefined, null or false.
 *
 * @throws naming `what` when it does not hold within `withinMs`.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
