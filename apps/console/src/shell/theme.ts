import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'millrace.theme';
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const readers = new Set<() => void>();

/** What the person chose; `system` follows the device. */
function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Show the chosen theme, now and when the device changes its own. */
export function applyTheme(): void {
  showTheme();
  dark.addEventListener('change', showTheme);
}

/** Choose a theme, for this browser. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  showTheme();
  for (const read of readers) read();
}

export function useTheme(): Theme {
  return useSyncExternalStore((read) => {
    readers.add(read);
    return () => readers.delete(read);
  }, readTheme);
}

function showTheme(): void {
  const theme = readTheme();
  document.documentElement.dataset['theme'] = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
}
