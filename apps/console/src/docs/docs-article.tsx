import type { MouseEvent, ReactNode } from 'react';
import { Link, useRouter } from '@tanstack/react-router';
import type { DocsPage, PageName } from 'virtual:docs';
import { copyText } from '../ui/copy-text';
import { notify, notifyError } from '../ui/display/notices';

const SITE = '/console/docs/';

/** A page, and the way to the one before and after it. */
export function DocsArticle({ page }: { page: DocsPage }): ReactNode {
  const { history } = useRouter();
  const onClick = (event: MouseEvent<HTMLElement>): void => {
    if (!(event.target instanceof Element)) return;
    const copy = event.target.closest('[data-copy]');
    if (copy !== null) return copyBlock(copy);
    const href = event.target.closest('a')?.getAttribute('href') ?? '';
    const own = href.startsWith(SITE) || href.startsWith('#');
    // With a key the browser opens it elsewhere.
    if (!own || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.push(href.startsWith('#') ? `${window.location.pathname}${href}` : href);
  };
  return (
    <>
      {/* The build made it from our own pages; it escapes markup that they contain. */}
      <article className="docs-text" onClick={onClick} dangerouslySetInnerHTML={{ __html: page.html }} />
      <nav className="docs-turn" aria-label="Pages before and after">
        <Turn page={page.previous} label="Previous" />
        <Turn page={page.next} label="Next" />
      </nav>
    </>
  );
}

function Turn({ page, label }: { page: PageName | null; label: string }): ReactNode {
  if (page === null) return <span />;
  return (
    <Link to="/docs/$" params={{ _splat: page.slug }} className="docs-turn-link">
      <span className="small soft">{label}</span>
      {page.label}
    </Link>
  );
}

function copyBlock(button: Element): void {
  const code = button.closest('figure')?.querySelector('pre')?.textContent ?? '';
  copyText(code).then(
    () => notify('Copied'),
    (error: unknown) => notifyError('The browser refused to copy', error),
  );
}
