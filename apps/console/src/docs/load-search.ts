import type { FoundSection } from './search-options';

/** The search over the index that the build made; both are loaded with the first use. */
export async function loadSearch(): Promise<{ find: (text: string) => FoundSection[] }> {
  const [{ default: MiniSearch }, { index }, { SEARCH_OPTIONS }] = await Promise.all([
    import('minisearch'),
    import('virtual:docs-search'),
    import('./search-options'),
  ]);
  const search = MiniSearch.loadJSON(index, SEARCH_OPTIONS);
  return { find: (text) => search.search(text) as unknown as FoundSection[] };
}
