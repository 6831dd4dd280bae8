import { useState, type ReactNode } from 'react';
import type { ApiKey } from '../api/api-keys';
import { Button } from '../ui/controls/button';
import { KeyRow } from './key-row';

interface KeyTableProps {
  keys: ApiKey[];
  /** The key as which the session acts. */
  ownId: string | null;
  onRotate: (key: ApiKey) => void;
  onRevoke: (key: ApiKey) => void;
}

/** The keys that work, and on request those that no longer do. */
export function KeyTable({ keys, ownId, onRotate, onRevoke }: KeyTableProps): ReactNode {
  const [endedShown, setEndedShown] = useState(false);
  const live = keys.filter(({ status }) => status === 'live');
  const ended = keys.length - live.length;
  return (
    <>
      <div className="panel" role="table" aria-label="API keys">
        <div className="record key-row head" role="row">
          {['Name', 'Scopes', 'Created', 'Last used', 'Ends', 'Status'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
          <span role="columnheader">
            <span className="unseen">Actions</span>
          </span>
        </div>
        {(endedShown ? keys : live).map((key) => (
          <KeyRow
            key={key.id}
            apiKey={key}
            own={key.id === ownId}
            onRotate={() => onRotate(key)}
            onRevoke={() => onRevoke(key)}
          />
        ))}
      </div>
      {ended > 0 && (
        <Button
          className="keys-ended"
          kind="quiet"
          aria-pressed={endedShown}
          onClick={() => setEndedShown(!endedShown)}
        >
          {endedShown ? 'Hide ended keys' : `Show ${ended} ended ${ended === 1 ? 'key' : 'keys'}`}
        </Button>
      )}
    </>
  );
}
