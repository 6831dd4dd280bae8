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
    const value = json ?? fallback;
    return (
      <select {...ids} className="input" value={value} title={title} onChange={(event) => onChange(event.target.value)}>
        {!options.some((option) => JSON.stringify(option) === value) && (
          <option value={value}>{value === '' ? 'Choose' : textOf(value)}</option>
        )}
        <Choices options={options} ofLibrary={spec?.library_options ?? []} />
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

interface ChoicesProps {
  options: NonNullable<NodeInputView['options']>;
  ofLibrary: readonly string[];
}

/** What can be chosen: models of the library stand before those that the engine has by itself. */
function Choices({ options, ofLibrary }: ChoicesProps): ReactNode {
  const own = new Set<unknown>(ofLibrary);
  const shown = (option: ChoicesProps['options'][number]): ReactNode => {
    const choice = JSON.stringify(option);
    return (
      <option key={choice} value={choice}>
        {textOf(choice)}
      </option>
    );
  };
  const others = options.filter((option) => !own.has(option));
  if (own.size === 0) return options.map(shown);
  return (
    <>
      <optgroup label="Model library">{options.filter((option) => own.has(option)).map(shown)}</optgroup>
      {others.length > 0 && <optgroup label="Of the engine">{others.map(shown)}</optgroup>}
    </>
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
