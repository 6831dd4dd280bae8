import type { ReactNode } from 'react';
import './facts.css';

/** Figures and names of one thing, side by side. */
export function Facts({ children }: { children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

/** One of them; `lead`: what people look for first. */
export function Fact(props: { name: string; lead?: boolean; children: ReactNode }): ReactNode {
  const { name, lead = false, children } = props;
  return (
    <div data-lead={lead}>
      <dt>{name}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}
