import type { ReactNode } from 'react';

/** The name, with its sign: water that runs under a wheel. */
export function Mark(): ReactNode {
  return (
    <span className="mark">
      <svg width="22" height="22" viewBox="0 0 22 22" fill="none" aria-hidden="true">
        <circle cx="11" cy="9" r="6" stroke="currentColor" strokeWidth="1.6" />
        <path d="M11 3v12M5 9h12M6.8 4.8l8.4 8.4M15.2 4.8l-8.4 8.4" stroke="currentColor" strokeWidth="1.1" />
        <path
          d="M1.5 17.5c1.6 0 1.6 1.5 3.2 1.5s1.6-1.5 3.1-1.5 1.6 1.5 3.2 1.5 1.6-1.5 3.2-1.5 1.5 1.5 3.1 1.5 1.6-1.5 3.2-1.5"
          stroke="currentColor"
          strokeWidth="1.6"
          strokeLinecap="round"
        />
      </svg>
      Millrace
    </span>
  );
}
