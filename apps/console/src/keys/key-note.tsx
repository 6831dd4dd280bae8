import type { ReactNode } from 'react';
import { Icon } from '../ui/controls/icon';

/** A consequence to know before acting on a key. */
export function KeyNote({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="key-note">
      <Icon name="warning" />
      <p>{children}</p>
    </div>
  );
}
