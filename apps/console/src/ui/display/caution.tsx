import type { ReactNode } from 'react';
import { Icon } from '../controls/icon';
import './caution.css';

/** A consequence to know before acting, or why something rests. */
export function Caution({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="caution">
      <Icon name="warning" />
      <p>{children}</p>
    </div>
  );
}
