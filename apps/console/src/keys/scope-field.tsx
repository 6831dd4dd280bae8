import { useId, type ReactNode } from 'react';
import type { Scope } from '@millrace/contracts';
import { useSession } from '../shell/session-context';
import { ALL_SCOPES, SCOPE_TEXTS } from './scopes';

interface ScopeFieldProps {
  scopes: Scope[];
  onScopes: (scopes: Scope[]) => void;
}

/** What a key may do: a key gives on only the scopes that it has itself, so the others cannot be chosen. */
export function ScopeField({ scopes, onScopes }: ScopeFieldProps): ReactNode {
  const { may } = useSession();
  const id = useId();
  return (
    <fieldset className="choices">
      <legend>What it may do</legend>
      {ALL_SCOPES.map((scope) => (
        <label key={scope} data-lacking={!may(scope)}>
          <input
            type="checkbox"
            aria-labelledby={`${id}-${scope}`}
            aria-describedby={`${id}-${scope}-text`}
            checked={scopes.includes(scope)}
            disabled={!may(scope)}
            onChange={({ target }) =>
              onScopes(target.checked ? [...scopes, scope] : scopes.filter((other) => other !== scope))
            }
          />
          <span id={`${id}-${scope}`} className="mono">
            {scope}
          </span>
          <span id={`${id}-${scope}-text`} className="small soft">
            {SCOPE_TEXTS[scope]}
            {!may(scope) && '. The key of this session lacks it.'}
          </span>
        </label>
      ))}
      {scopes.length === 0 && <p className="field-error">Choose at least one scope.</p>}
    </fieldset>
  );
}
