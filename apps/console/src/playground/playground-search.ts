/** What a playground begins with. */
export interface PlaygroundSearch {
  /** A job whose graph is taken. */
  from?: string;
  deployment?: string;
  /** An asset that the graph is to read. */
  asset?: string;
}

/** Read the search of an address that anyone may have typed. */
export function readPlaygroundSearch({ from, deployment, asset }: Record<string, unknown>): PlaygroundSearch {
  return {
    ...(typeof from === 'string' && from !== '' ? { from } : {}),
    ...(typeof deployment === 'string' && deployment !== '' ? { deployment } : {}),
    ...(typeof asset === 'string' && asset !== '' ? { asset } : {}),
  };
}
