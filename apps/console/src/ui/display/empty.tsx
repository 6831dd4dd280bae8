import type { ReactNode } from 'react';
import { Icon, type IconName } from '../controls/icon';
import './empty.css';

/** What stands where there is nothing yet: what this is, and the first thing to do. */
export function Empty(props: { icon: IconName; title: string; children?: ReactNode }): ReactNode {
  const { icon, title, children } = props;
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
