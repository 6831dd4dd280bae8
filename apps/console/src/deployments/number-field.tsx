import type { ReactNode } from 'react';
import { Field } from '../ui/controls/field';

interface NumberFieldProps {
  label: string;
  note: string;
  value: number;
  min?: number;
  max: number;
  onChange: (value: number) => void;
}

/** A whole number that must be given. */
export function NumberField({ label, note, value, min = 0, max, onChange }: NumberFieldProps): ReactNode {
  return (
    <Field label={label} note={note}>
      {(ids) => (
        <input
          {...ids}
          className="input number"
          type="number"
          required
          min={min}
          max={max}
          step={1}
          value={Number.isNaN(value) ? '' : value}
          onChange={(event) => onChange(event.target.valueAsNumber)}
        />
      )}
    </Field>
  );
}
