import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { DocsPage } from 'virtual:docs';

const DEEPEST = 3;

/** What is on the page. */
export function DocsContents({ headings }: { headings: DocsPage['headings'] }): ReactNode {
  const shown = headings.filter(({ level }) => level > 1 && level <= DEEPEST);
  if (shown.length < 2) return null;
  return (
    <nav className="docs-contents" aria-label="On this page">
      <h2 className="small soft">On this page</h2>
      <ul>
        {shown.map(({ id, text, level }) => (
          <li key={id} data-level={level}>
            <Link to="." hash={id}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
