import { useEffect, type ReactNode } from 'react';
import './page.css';

interface PageProps {
  title: string;
  /** Beside the title: a state, a count. */
  beside?: ReactNode;
  actions?: ReactNode;
  /** Over the title: the way back. */
  above?: ReactNode;
  /** `wide`: a screen that uses all of the width. */
  width?: 'text' | 'wide';
  children: ReactNode;
}

/** A screen: its title, its actions, its content. */
export function Page({ title, beside, actions, above, width = 'wide', children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <div className={`page ${width}`}>
      {above}
      <header className="page-head">
        <div className="page-title">
          <h1>{title}</h1>
          {beside}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
