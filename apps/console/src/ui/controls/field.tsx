import { useId, type ReactNode } from 'react';
import './field.css';

interface FieldProps {
  label: ReactNode;
  error?: string | undefined;
  note?: ReactNode;
  /** Gets the ids that tie the control to its label and error. */
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode;
}

/** A control with its label, what is wrong with it, and a note. */
export function Field({ label, error, note, children }: FieldProps): ReactNode {
  const id = useId();
  const described = error === undefined && note === undefined ? {} : { 'aria-describedby': `${id}-note` };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...described, ...(error === undefined ? {} : { 'aria-invalid': true }) })}
      {(error !== undefined || note !== undefined) && (
        <span id={`${id}-note`} className={error === undefined ? 'small faint' : 'field-error'}>
          {error ?? note}
        </span>
      )}
    </div>
  );
}
