/**
 * A key under which a request may be repeated (contract, section 4): 128 random bits in hexadecimal. `crypto.randomUUID` exists only where
 * the page came over HTTPS or from this machine, and a service of one's own is also reached by the address of its host.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
