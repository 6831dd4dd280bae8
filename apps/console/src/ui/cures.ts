import { useEffect, useState } from 'react';
import type { ConsoleCode } from '../api/api-error';

/** What to do about what the console itself found. */
const OWN_CURES: Record<ConsoleCode, string> = {
  no_envelope: 'Try again in a moment. If it lasts, ask who runs the service, and say the number and the time.',
  unreachable: 'Check the connection, then try again. If everything else can be reached, the service may be away.',
  answer_lost: 'This page reads again what it shows: see there whether it was done, and repeat it only if it was not.',
};

/** What to do about an error that only the console knows; null for a code of the contract. */
export function ownCure(code: string): string | null {
  return Object.entries(OWN_CURES).find(([own]) => own === code)?.[1] ?? null;
}

/** What the caller can do about an error code, from the catalogues of the contract; null for a code that they do not have, and until they are loaded. */
export function useCure(code: string): string | null {
  const [cure, setCure] = useState<string | null>(null);
  useEffect(() => {
    let isShown = true;
    // Offline, the error itself is shown all the same; the next one asks for the catalogue again.
    readCure(code).then(
      (text) => isShown && setCure(text),
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [code]);
  return cure;
}

/** The catalogue is loaded when the first error is shown: it brings the schemas of the contract. */
async function readCure(code: string): Promise<string | null> {
  const { ERROR_CATALOGUE, INVALID_REQUEST, JOB_ERROR_CATALOGUE } = await import('@millrace/contracts');
  const facts: Record<string, { cure: string }> = {
    ...ERROR_CATALOGUE,
    ...JOB_ERROR_CATALOGUE,
    invalid_request: INVALID_REQUEST,
  };
  return facts[code]?.cure ?? null;
}
