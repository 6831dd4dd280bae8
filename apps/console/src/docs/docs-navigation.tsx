import { useState, type ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { groups } from 'virtual:docs';
import { DocsSearch } from './docs-search';

/** The search and all pages, in the order in which they are read. On a phone the pages are folded away. */
export function DocsNavigation({ slug }: { slug: string }): ReactNode {
  const [openOver, setOpenOver] = useState<string | null>(null);
  const open = openOver === slug;
  return (
    <div className="docs-side">
      <DocsSearch />
      <button
        type="button"
        className="button docs-pages-opener"
        aria-expanded={open}
        onClick={() => setOpenOver(open ? null : slug)}
      >
        {open ? 'Hide the pages' : 'All pages'}
      </button>
      <nav className="docs-pages" data-open={open} aria-label="Docs">
        {groups.map(({ title, pages }) => (
          // Of the long list of decisions only the one that is read is open.
          <details key={title} open={pages.length < 15 || pages.some((page) => page.slug === slug)}>
            <summary className="small soft">{title}</summary>
            <ul>
              {pages.map((page) => (
                <li key={page.slug}>
                  <Link
                    to="/docs/$"
                    params={{ _splat: page.slug }}
                    className="docs-place"
                    aria-current={page.slug === slug ? 'page' : undefined}
                  >
                    {page.label}
                  </Link>
                </li>
              ))}
            </ul>
          </details>
        ))}
        <a className="docs-place" href="/api/v2/reference">
          The reference of the API
        </a>
      </nav>
    </div>
  );
}
