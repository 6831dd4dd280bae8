/** Modules that the build makes from docs/ (docs-site/plugin.ts). */
declare module 'virtual:docs' {
  interface PageName {
    /** The file below docs/ without `.md`, and the address. */
    slug: string;
    label: string;
  }
  interface DocsPage {
    label: string;
    /** Of our own pages, rendered by the build: no scripts, no styles. */
    html: string;
    headings: { level: number; id: string; text: string }[];
    previous: PageName | null;
    next: PageName | null;
  }
  export const groups: { title: string; pages: PageName[] }[];
  export const loaders: Record<string, (() => Promise<{ page: DocsPage }>) | undefined>;
}

declare module 'virtual:docs-search' {
  /** The index of minisearch, as JSON. */
  export const index: string;
}
