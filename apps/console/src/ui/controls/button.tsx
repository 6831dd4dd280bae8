import type { ButtonHTMLAttributes, ReactNode } from 'react';
import './button.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary`: the one thing to do here. `quiet`: without a border. `danger`: ends or deletes something. */
  kind?: 'plain' | 'primary' | 'quiet' | 'danger';
  icon?: ReactNode;
  /** While an action runs: the button cannot be pressed again. */
  busy?: boolean;
}

/** A button; without children it is square and needs an `aria-label`. */
export function Button({ kind = 'plain', icon, busy = false, children, disabled, ...rest }: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${kind} ${children === undefined ? 'square' : ''} ${rest.className ?? ''}`}
      disabled={disabled === true || busy}
      aria-busy={busy}
    >
      {icon}
      {children !== undefined && <span className="clip">{children}</span>}
    </button>
  );
}
