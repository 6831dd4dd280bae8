import { readJobsSearch, type JobsSearch } from './jobs-search';

/** Filters of the list of jobs under a name. */
export interface SavedView {
  name: string;
  search: JobsSearch;
}

/** Where views are kept: what this needs of a browser's storage. */
export interface ViewStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = 'millrace.job-views';
const MOST = 20;

/** The views of this browser, in the order of their names; none where what is stored is no list of them. */
export function readViews(storage: ViewStorage): SavedView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return (Array.isArray(stored) ? stored : []).flatMap(viewOf).slice(0, MOST);
  } catch {
    return [];
  }
}

function viewOf(stored: unknown): SavedView[] {
  const { name, search } = (stored ?? {}) as Partial<Record<keyof SavedView, unknown>>;
  if (typeof name !== 'string' || typeof search !== 'object' || search === null) return [];
  return [{ name, search: readJobsSearch(search as Record<string, unknown>) }];
}

/** Keep a view; one of the same name is replaced. @returns all views then. */
export function saveView(view: SavedView, storage: ViewStorage): SavedView[] {
  const others = readViews(storage).filter(({ name }) => name !== view.name);
  return write([...others, view].sort((a, b) => a.name.localeCompare(b.name)).slice(0, MOST), storage);
}

/** @returns the views that are left. */
export function forgetView(name: string, storage: ViewStorage): SavedView[] {
  return write(
    readViews(storage).filter((view) => view.name !== name),
    storage,
  );
}

function write(views: SavedView[], storage: ViewStorage): SavedView[] {
  storage.setItem(KEY, JSON.stringify(views));
  return views;
}

/** True for the same filters, in any order of labels. */
export function isSameSearch(one: JobsSearch, other: JobsSearch): boolean {
  const textOf = ({ status, label, deployment, since }: JobsSearch): string =>
    JSON.stringify([status, [...(label ?? [])].sort(), deployment, since]);
  return textOf(one) === textOf(other);
}
