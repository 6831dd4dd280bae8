import type { DescribedParameter } from './described';

/**
 * The query of a signed link, which its handler verifies.
 *
 * @param record the kind of record that the link leads to, e.g. `asset`.
 * @param more `key` where the link names the key that signed it.
 */
export function signedQuery(record: string, ...more: 'key'[]): DescribedParameter[] {
  return [
    signed('account', `Account of the ${record}.`),
    signed('expires', 'When the link expires, in seconds since 1970.'),
    ...more.map((name) => signed(name, 'Key that signed it.')),
    signed('signature', 'The signature.'),
  ];
}

function signed(name: string, description: string): DescribedParameter {
  return { name, in: 'query', required: true, description, schema: { type: 'string' } };
}
