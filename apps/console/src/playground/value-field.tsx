import type { ReactNode } from 'react';
import type { NodeInputView } from '@millrace/contracts';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Icon } from '../ui/controls/icon';
import { AssetField } from './asset-field';
import { randomSeed } from './random-seed';

interface ValueFieldProps {
  name: string;
  /** Undefined for an input that the class does not declare: its value is edited as JSON. */
  spec: NodeInputView | undefined;
  /** The value as JSON text; null where the graph does not give it, so that the default applies. */
  json: string | null;
  fault: string | undefined;
  deployment: string | undefined;
  onChange: (json: string) => void;
}

/** A value of a node, by the control that fits its type. */
export function ValueField({ name, spec, json, fault, deployment, onChange }: ValueFieldProps): ReactNode {
  if (spec?.file !== undefined) {
    return (
      <AssetField name={name} kind={spec.file} json={json} fault={fault} deployment={deployment} onChange={onChange} />
    );
  }
  return (
    <Field label={name} error={fault} note={spec && rangeOf(spec)}>
      {(ids) => <Control {...{ name, spec, json, onChange, ids }} />}
    </Field>
  );
}

type ControlProps = Pick<ValueFieldProps, 'name' | 'spec' | 'json' | 'onChange'> & { ids: { id: string } };

function Control({ name, spec, json, onChange, ids }: ControlProps): ReactNode {
  const fallback = spec?.default === undefined ? '' : JSON.stringify(spec.default);
  const { type = 'JSON', options, multiline, tooltip: title } = spec ?? {};
  if (type === 'BOOLEAN') {
    const checked = (json ?? fallback) === 'true';
    return (
      <input {...ids} type="checkbox" checked={checked} onChange={() => onChange(String(!checked))} title={title} />
    );
  }
  if (type === 'COMBO' && options !== undefined) {
    const choices = options.map((option) => JSON.stringify(option));
    const value = json ?? fallback;
    return (
      <select {...ids} className="input" value={value} title={title} onChange={(event) => onChange(event.target.value)}>
        {!choices.includes(value) && <option value={value}>{value === '' ? 'Choose' : textOf(value)}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {textOf(choice)}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'STRING' || type === 'COMBO') {
    const text = { value: textOf(json ?? ''), placeholder: textOf(fallback), title };
    return multiline === true || text.value.length > 60 ? (
      <textarea
        {...ids}
        {...text}
        className="input"
        rows={4}
        onChange={(event) => onChange(quoted(event.target.value))}
      />
    ) : (
      <input {...ids} {...text} className="input" onChange={(event) => onChange(quoted(event.target.value))} />
    );
  }
  const isSeed = type === 'INT' && /seed/i.test(name);
  return (
    <span className="value-line">
      <input
        {...ids}
        className="input mono"
        inputMode={type === 'INT' ? 'numeric' : type === 'FLOAT' ? 'decimal' : 'text'}
        value={shownNumber(json)}
        placeholder={fallback}
        title={title}
        onChange={(event) => onChange(jsonOf(event.target.value))}
      />
      {isSeed && (
        <Button
          icon={<Icon name="dice" />}
          aria-label={`Random ${name}`}
          title="A random seed"
          onClick={() => onChange(randomSeed(spec?.max))}
        />
      )}
    </span>
  );
}

const quoted = (text: string): string => JSON.stringify(text);
/** JSON of a string as what it says; anything else as it stands. */
const textOf = (json: string): string => (json.startsWith('"') ? String(JSON.parse(json)) : json);

/** What was typed: as it stands where it is JSON, else as a text, so that the graph stays JSON while a number is half typed. */
function jsonOf(typed: string): string {
  try {
    JSON.parse(typed);
    return typed.trim();
  } catch {
    return quoted(typed);
  }
}

const shownNumber = (json: string | null): string => (json === null ? '' : textOf(json));

function rangeOf({ min, max, type }: NodeInputView): string | undefined {
  if (type !== 'INT' && type !== 'FLOAT') return undefined;
  if (min !== undefined && max !== undefined && max.length < 12) return `${min} to ${max}`;
  return min === undefined || min.length > 12 ? undefined : `${min} or more`;
}
