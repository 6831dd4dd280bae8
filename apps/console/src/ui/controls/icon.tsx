import type { ReactNode } from 'react';

/** Line icons on a grid of 16, drawn here: one stroke width, no packages. */
const PATHS = {
  jobs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  batches: 'M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z',
  plus: 'M8 3v10M3 8h10',
  assets: 'M2.5 3.5h11v9h-11zM2.5 10.5l3-3 2.5 2.5 2-2 3.5 3.5M10.5 6h.01',
  models: 'M8 2 13.5 5v6L8 14 2.5 11V5zM2.5 5 8 8l5.5-3M8 8v6',
  usage: 'M3 13V8.5M8 13V3M13 13V6',
  keys: 'M10 6.5a3 3 0 1 1-1.1-2.3A3 3 0 0 1 10 6.5ZM9.2 8.5l4.3 4.3M11.5 10.8l-1.4 1.4',
  deployments: 'M2.5 5 8 2.5 13.5 5 8 7.5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5 13.5 11',
  webhooks:
    'M4.5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM11.5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM9 5.8l1.7 4.4M7 5.8 5.3 10.2M6.5 12h3',
  limits: 'M2.5 11a5.5 5.5 0 1 1 11 0M8 11l2.5-3.5',
  docs: 'M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M5.5 8.5h5M5.5 11h3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  moon: 'M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5Z',
  frame: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  screen: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c.6-2.4 2.6-3.5 5-3.5s4.4 1.1 5 3.5',
  people:
    'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5ZM1.5 13c.5-2.2 2.3-3.2 4.5-3.2s4 1 4.5 3.2M10.5 3.2a2.2 2.2 0 0 1 0 4.1M12 9.9c1.3.4 2.2 1.4 2.5 3.1',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  stop: 'M4.5 4.5h7v7h-7z',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2.5V10M5 7.5 8 10.5l3-3M3 13.5h10',
  upload: 'M8 10.5V3M5 5.5 8 2.5l3 3M3 13.5h10',
  dice: 'M3 3h10v10H3zM5.8 5.8h.01M10.2 5.8h.01M8 8h.01M5.8 10.2h.01M10.2 10.2h.01',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 5v3l2 1.5',
  dot: 'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  dash: 'M4 8h8',
  bin: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
  out: 'M6.5 2.5h-4v11h4M6.5 8h7M10.5 5l3 3-3 3',
  file: 'M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon. It says nothing to a screen reader: what it stands for is in the text or label beside it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
