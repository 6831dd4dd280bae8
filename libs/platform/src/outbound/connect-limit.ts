/** How long a connection to a host that somebody else names may take to come up. */
export const CONNECT_MS = 5_000;
