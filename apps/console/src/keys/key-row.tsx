import type { ReactNode } from 'react';
import type { ApiKey } from '../api/api-keys';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Sign } from '../ui/display/status';
import { Ago } from '../ui/display/time';
import { endOf } from './key-life';
import { ALL_SCOPES } from './scopes';

interface KeyRowProps {
  apiKey: ApiKey;
  /** Whether the session acts as this key. */
  own: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}

/** A key as a line of the list, with what can be done with it. */
export function KeyRow({ apiKey, own, onRotate, onRevoke }: KeyRowProps): ReactNode {
  const { name, last_four: lastFour, status, rotated_to: successor } = apiKey;
  const end = endOf(apiKey);
  const { may } = useSession();
  // Nobody ends or replaces a key that may do what they may not, but the key itself.
  const mayManage = status === 'live' && (own || apiKey.scopes.every(may));
  return (
    <div className="record key-row" role="row" data-status={status}>
      <span role="cell" className="tags key-name">
        <span className="clip" title={name}>
          {name}
        </span>
        <span className="mono small faint">…{lastFour}</span>
        {Object.entries(apiKey.labels ?? {}).map(([label, value]) => (
          <span key={label} className="tag mono clip" title="Its jobs carry this label, and it sees no others.">
            {label}={value}
          </span>
        ))}
        {own && <Sign tone="busy">This session</Sign>}
      </span>
      <span role="cell" className="tags key-scopes">
        <Scopes apiKey={apiKey} />
      </span>
      <When name="Created" at={apiKey.created_at} otherwise="" />
      <When name="Last used" at={apiKey.last_used_at} otherwise="never" />
      <When name={status === 'live' ? 'Ends' : 'Ended'} at={end} otherwise="never" />
      <span role="cell" className="key-status">
        <KeySign apiKey={apiKey} />
      </span>
      <span role="cell" className="record-acts key-acts">
        {mayManage && successor === null && (
          <Button kind="quiet" aria-label={`Rotate ${name}`} onClick={onRotate}>
            Rotate
          </Button>
        )}
        {mayManage && (
          <Button kind="danger" aria-label={`Revoke ${name}`} onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </span>
    </div>
  );
}

function Scopes({ apiKey: { scopes } }: { apiKey: ApiKey }): ReactNode {
  if (ALL_SCOPES.every((scope) => scopes.includes(scope))) return <span className="soft">All scopes</span>;
  return scopes.map((scope) => (
    <span key={scope} className="tag mono">
      {scope}
    </span>
  ));
}

function When({ name, at, otherwise }: { name: string; at: string | null; otherwise: string }): ReactNode {
  return (
    <span role="cell" className="soft key-when" data-name={name}>
      {at === null ? otherwise : <Ago at={at} />}
    </span>
  );
}

function KeySign({ apiKey: { status, rotated_to: successor } }: { apiKey: ApiKey }): ReactNode {
  if (status === 'revoked') {
    return (
      <Sign tone="rest" icon="stop">
        {successor === null ? 'Revoked' : 'Replaced'}
      </Sign>
    );
  }
  if (status === 'expired') {
    return (
      <Sign tone="warn" icon="clock">
        Expired
      </Sign>
    );
  }
  if (successor === null) {
    return (
      <Sign tone="good" icon="check">
        Live
      </Sign>
    );
  }
  return (
    <Sign tone="warn" icon="clock">
      Replaced, still live
    </Sign>
  );
}
