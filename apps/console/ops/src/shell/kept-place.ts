const KEY = 'millrace-sign-in-place';
/** Where a sign-in by the provider comes back to. */
const START = '/console/ops/';

/** Keep the address of this tab over a sign-in by the provider, which leaves the page. */
export function keepPlace(): void {
  sessionStorage.setItem(KEY, window.location.pathname + window.location.search);
}

/** Go on at the kept address, with what the sign-in says behind the `#`. Called before the router reads the address. */
export function returnToPlace(): void {
  const place = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (place === null || window.location.pathname !== START) return;
  window.history.replaceState(null, '', place + window.location.hash);
}
