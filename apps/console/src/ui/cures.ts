const cures = new Map<string, Promise<string | null>>();

/** What the caller can do about an error code, from the catalogues of the contract; null for a code that it does not have. */
export function cureOf(code: string): Promise<string | null> {
  let cure = cures.get(code);
  if (cure === undefined) {
    cure = readCure(code);
    cures.set(code, cure);
  }
  return cure;
}

/** The catalogue is loaded when the first error is shown: it brings the schemas of the contract. */
async function readCure(code: string): Promise<string | null> {
  try {
    const { ERROR_CATALOGUE, INVALID_REQUEST, JOB_ERROR_CATALOGUE } = await import('@millrace/contracts');
    const facts: Record<string, { cure: string }> = {
      ...ERROR_CATALOGUE,
      ...JOB_ERROR_CATALOGUE,
      invalid_request: INVALID_REQUEST,
    };
    return facts[code]?.cure ?? null;
  } catch {
    // Offline: the error itself is shown all the same.
    return null;
  }
}
