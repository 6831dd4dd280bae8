/** How often what is on a screen is read again; not while the tab is hidden. */
export const POLL_MS = 5_000;
/** Records on a page of a list: as many as the admin API gives at once. */
export const PAGE_SIZE = 100;
