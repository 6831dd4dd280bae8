import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { pageGroups, type PageGroup, type PageName } from './pages';
import { renderPage, type RenderedPage } from './markdown';

/** A page of the site, ready to be shown. */
export interface SitePage extends RenderedPage, PageName {
  previous: PageName | null;
  next: PageName | null;
  /** The files of its pictures; the HTML has `pictureMark(n)` where the address of picture n belongs. */
  pictures: string[];
}

export interface Site {
  groups: PageGroup[];
  pages: SitePage[];
}

export const pictureMark = (index: number): string => `@@picture-${index}@@`;

/** What the service itself serves. */
const SERVED: Record<string, string> = {
  'openapi.json': '/api/v2/openapi.json',
  'platform-openapi.json': '/platform/v1/openapi.json',
};
const SITE = '/console/docs';
/** A page links to a screen of the console by the folder of its sources, so that the link also leads somewhere in the repository. */
const SCREEN = /^\.\.\/apps\/console\/src\/([a-z]+)$/;

/**
 * The pages of docs/ as a site.
 *
 * @throws Error that names every link that leads to no page, heading or picture.
 */
export function readSite(docs: string): Site {
  const groups = pageGroups(docs);
  const names = groups.flatMap(({ pages }) => pages);
  const faults: string[] = [];
  const links: { from: string; slug: string; id: string }[] = [];
  const slugs = new Set(names.map(({ slug }) => slug));
  const labels = new Map(names.map(({ slug, label }) => [`${slug}.md`, label]));
  const nameOf = (file: string): string | null => labels.get(file) ?? null;
  const pages = names.map((name, at): SitePage => {
    const { slug } = name;
    const pictures: string[] = [];
    const link = (href: string): string | null => {
      if (/^[a-z]+:/.test(href)) return href;
      const [path = '', id = ''] = href.split('#');
      const file = path === '' ? `${slug}.md` : normalize(join(dirname(slug), path));
      const screen = SCREEN.exec(file)?.[1];
      if (screen !== undefined) return `/console/${screen}`;
      // Of the repository, and not of the site: test/docs holds that it exists.
      if (file.startsWith('..')) return null;
      const served = SERVED[file];
      if (served !== undefined) return served;
      if (file === 'admin-openapi.json') return null;
      const target = file.replace(/\.md$/, '');
      if (!slugs.has(target)) faults.push(`docs/${slug}.md: ${href}`);
      links.push({ from: slug, slug: target, id });
      return `${SITE}/${target}${id === '' ? '' : `#${id}`}`;
    };
    const picture = (source: string): string => {
      const file = join(docs, dirname(slug), source);
      if (relative(docs, file).startsWith('..') || !existsSync(file)) faults.push(`docs/${slug}.md: ${source}`);
      return pictureMark(pictures.push(file) - 1);
    };
    const rendered = renderPage(readFileSync(join(docs, `${slug}.md`), 'utf8'), { link, picture, nameOf });
    return { ...name, ...rendered, pictures, previous: names[at - 1] ?? null, next: names[at + 1] ?? null };
  });
  const headings = new Set(pages.flatMap((page) => page.headings.map(({ id }) => `${page.slug}#${id}`)));
  for (const { from, slug, id } of links) {
    if (id !== '' && slugs.has(slug) && !headings.has(`${slug}#${id}`))
      faults.push(`docs/${from}.md: ${slug}.md#${id}`);
  }
  if (faults.length > 0) throw new Error(`Links of the docs lead nowhere:\n${faults.join('\n')}`);
  return { groups, pages };
}
