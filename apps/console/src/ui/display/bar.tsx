import type { ReactNode } from 'react';
import './bar.css';

/** A part of a whole, 0 to 1. Its width is set on the element, not in a style attribute, so that a strict CSP allows it. */
export function Bar({ value, label, tone = 'busy' }: { value: number; label: string; tone?: string }): ReactNode {
  const share = Math.max(0, Math.min(1, value));
  return (
    <span
      className={`bar ${tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <span style={{ transform: `scaleX(${share})` }} />
    </span>
  );
}
