import type { Plugin } from 'vite';
import { searchIndex } from './search-index';
import { pictureMark, readSite, type SitePage } from './site';

const NAMES = 'virtual:docs';
const SEARCH = 'virtual:docs-search';
const PAGE = 'virtual:docs-page/';
const RESOLVED = '\0';

/**
 * The pages of docs/ as modules: `virtual:docs` lists them and loads each as a chunk of its own, `virtual:docs-search` is the index
 * of the search. The build fails when a link leads nowhere. While it serves sources, a changed page reloads the browser.
 *
 * @param docs the folder, absolute.
 */
export function docsSite(docs: string): Plugin {
  let site = readSite(docs);
  const load = (id: string): string | null => {
    if (id === NAMES) return namesModule(site.groups, site.pages);
    if (id === SEARCH) return `export const index = ${JSON.stringify(searchIndex(site.pages))};`;
    const page = site.pages.find(({ slug }) => id === PAGE + slug);
    return page === undefined ? null : pageModule(page);
  };
  return {
    name: 'millrace-docs',
    resolveId: (id) => (id === NAMES || id === SEARCH || id.startsWith(PAGE) ? RESOLVED + id : null),
    load: (id) => (id.startsWith(RESOLVED) ? load(id.slice(RESOLVED.length)) : null),
    configureServer: (server) => {
      server.watcher.add(docs);
      server.watcher.on('change', (file) => {
        if (!file.startsWith(docs)) return;
        site = readSite(docs);
        server.moduleGraph.invalidateAll();
        server.ws.send({ type: 'full-reload' });
      });
    },
  };
}

function namesModule(groups: unknown, pages: readonly SitePage[]): string {
  const loaders = pages.map(({ slug }) => `${JSON.stringify(slug)}: () => import(${JSON.stringify(PAGE + slug)})`);
  return `export const groups = ${JSON.stringify(groups)};\nexport const loaders = {${loaders.join(',\n')}};`;
}

/** Pictures are imported: Vite names them by their content, as all else that it serves. */
function pageModule({ html, headings, pictures, previous, next, label }: SitePage): string {
  const imports = pictures.map((file, at) => `import picture${at} from ${JSON.stringify(file)};`);
  const filled = pictures.reduce(
    (text, _, at) => text.replaceAll(pictureMark(at), `" + picture${at} + "`),
    JSON.stringify(html),
  );
  const facts = JSON.stringify({ headings, previous, next, label });
  return `${imports.join('\n')}\nexport const page = { ...${facts}, html: ${filled} };`;
}
