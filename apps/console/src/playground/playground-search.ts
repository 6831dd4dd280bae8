/** What a playground begins with. */
export interface PlaygroundSearch {
  /** A job whose graph is taken. */
  from?: string;
  deployment?: string;
}

/** Read the search of an address that anyone may have typed. */
export function readPlaygroundSearch({ from, deployment }: Record<string, unknown>): PlaygroundSearch {
  return {
    ...(typeof from === 'string' && from !== '' ? { from } : {}),
    ...(typeof deployment === 'string' && deployment !== '' ? { deployment } : {}),
  };
}
