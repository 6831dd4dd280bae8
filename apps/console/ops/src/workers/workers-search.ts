/** The filters of the workers as they stand in the address. */
export interface WorkersSearch {
  pool?: string;
  stopped?: true;
}

/** Read the filters of an address that anyone may have typed: what is no filter is left out. */
export function readWorkersSearch(search: Record<string, unknown>): WorkersSearch {
  const { pool, stopped } = search;
  return {
    ...(typeof pool === 'string' && pool !== '' ? { pool } : {}),
    ...(stopped === true ? { stopped } : {}),
  };
}
