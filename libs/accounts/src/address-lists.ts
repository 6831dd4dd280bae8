import { Refusal } from '@millrace/contracts';
import { isInNetworks, isWithinNetworks, readNetworks, type Network } from '@millrace/platform';

/** How many networks a list has at most: each request is compared with all. */
export const NETWORKS_LISTED = 100;

/** From where a key may be used: a list of its account or its own. A request must come from a network of each. */
export interface AllowList {
  of: 'account' | 'API key';
  networks: readonly Network[];
}

/** An address is the network of itself alone. @returns the networks, or what is wrong with the text. */
function networkOf(text: string): Network[] | string {
  if (text.includes('/')) return readNetworks(text);
  return readNetworks(`${text}/${text.includes(':') ? 128 : 32}`);
}

/**
 * The networks of a list, each an address or a CIDR block (RFC 4632, RFC 4291).
 *
 * @throws Refusal `invalid_request`, which names the entry that is none.
 */
export function networksOf(list: readonly string[]): Network[] {
  return list.flatMap((text, at) => {
    const networks = text.includes(',') ? 'one network to an entry' : networkOf(text);
    if (typeof networks !== 'string') return networks;
    const reason = 'must be an address or a network such as 203.0.113.0/24 or 2001:db8::/32';
    throw Refusal.ofFields([{ field: `allowed_addresses[${at}]`, reason }]);
  });
}

/** The lists that bound a key; undefined where neither its account nor it has one. */
export function allowListsOf(account: readonly string[], key: readonly string[]): AllowList[] | undefined {
  const lists: AllowList[] = [];
  if (account.length > 0) lists.push({ of: 'account', networks: networksOf(account) });
  if (key.length > 0) lists.push({ of: 'API key', networks: networksOf(key) });
  return lists.length === 0 ? undefined : lists;
}

/** The list that an address is not in; null where it is in all. @param address null: of a connection that is gone. */
export function refusingList(lists: readonly AllowList[], address: string | null): AllowList | null {
  return lists.find(({ networks }) => address === null || !isInNetworks(address, networks)) ?? null;
}

/** Whether a list lets in no address that `outer` refuses; an empty one lets all in. */
export function isWithinList(list: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true;
  const networks = networksOf(outer);
  return list.length > 0 && networksOf(list).every((network) => isWithinNetworks(network, networks));
}

/**
 * Refuse a list that would lock out who sets it.
 *
 * @throws Refusal `invalid_request`, which names the address that is missing.
 */
export function assertListsCaller(list: readonly string[], address: string | null): void {
  if (list.length === 0 || (address !== null && isInNetworks(address, networksOf(list)))) return;
  const reason = `must contain the address that you call from, ${address ?? 'which is not known'}: you would lock yourself out`;
  throw Refusal.ofFields([{ field: 'allowed_addresses', reason }]);
}
