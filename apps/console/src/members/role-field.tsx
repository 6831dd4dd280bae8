import { useId, type ReactNode } from 'react';
import type { MemberRole } from '@millrace/contracts';
import { capital } from '../ui/format';
import { ROLES, ROLE_TEXTS } from './roles';

/** The choice of a role, each with what it may do. */
export function RoleField({ role, onRole }: { role: MemberRole; onRole: (role: MemberRole) => void }): ReactNode {
  const id = useId();
  return (
    <fieldset className="choices short">
      <legend>Role</legend>
      {ROLES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name={id}
            aria-labelledby={`${id}-${name}`}
            aria-describedby={`${id}-${name}-text`}
            checked={name === role}
            onChange={() => onRole(name)}
          />
          <span id={`${id}-${name}`}>{capital(name)}</span>
          <span id={`${id}-${name}-text`} className="small soft">
            {ROLE_TEXTS[name]}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
