import { useEffect, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useParams } from '@tanstack/react-router';
import { loaders } from 'virtual:docs';
import { NotFound } from '../shell';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { DocsArticle } from './docs-article';
import { DocsContents } from './docs-contents';
import { DocsNavigation } from './docs-navigation';
import './docs.css';
import './docs-text.css';
import './docs-code.css';

/** The page with which the docs open. */
const FIRST_PAGE = 'api-guide';

/** The docs of the service: its pages, their contents, a search. Anyone may read them. */
export function DocsScreen(): ReactNode {
  const { _splat: path = '' } = useParams({ strict: false });
  const slug = path === '' ? FIRST_PAGE : path;
  const load = loaders[slug];
  const page = useQuery({
    queryKey: ['docs', slug],
    queryFn: async () => (await load?.())?.page ?? null,
    staleTime: Infinity,
    retry: false,
    enabled: load !== undefined,
  });
  useScrollToHash(page.isSuccess);
  const label = page.data?.label;
  useEffect(() => {
    if (label !== undefined) document.title = `${label} · Millrace docs`;
  }, [label]);
  if (load === undefined) return <NotFound />;
  return (
    <div className="docs">
      <DocsNavigation slug={slug} />
      <div className="docs-page">
        {page.isError && <ErrorNote error={page.error} onRetry={() => page.refetch()} />}
        {page.isPending && <Skeleton lines={12} />}
        {page.data && <DocsArticle page={page.data} />}
      </div>
      {page.data && <DocsContents headings={page.data.headings} />}
    </div>
  );
}

/** Once the page is there, to the heading that the address names; without one, to the top. */
function useScrollToHash(shown: boolean): void {
  const { pathname, hash } = useLocation();
  useEffect(() => {
    if (!shown) return;
    const target = hash === '' ? null : document.getElementById(decodeURIComponent(hash));
    if (target === null) window.scrollTo({ top: 0 });
    else target.scrollIntoView();
  }, [shown, pathname, hash]);
}
