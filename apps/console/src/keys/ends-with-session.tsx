import type { ReactNode } from 'react';
import type { ApiKey } from '../api/api-keys';
import { Ago } from '../ui/display/time';
import { Caution } from '../ui/display/caution';
import { endOf } from './key-life';

/** A key ends with the key that makes it: a session by a link has a key of some hours. */
export function EndsWithSession({ own }: { own: ApiKey | null }): ReactNode {
  const end = own === null ? null : endOf(own);
  if (end === null) return null;
  return (
    <Caution>
      This session acts as a key that ends <Ago at={end} />, and the keys that it makes end with it. For one that stays,
      sign in with a key that stays.
    </Caution>
  );
}
