import { Suspense, use, type ReactNode } from 'react';
import { asApiError } from '../../api/api-error';
import { Button } from '../controls/button';
import { cureOf } from '../cures';
import { Icon } from '../controls/icon';
import './error-note.css';

/**
 * An error as a person needs it: what happened, its code, and what to do about it.
 *
 * @param props.cure what to do here, where the catalogue's cure is meant for programs.
 */
export function ErrorNote(props: { error: unknown; onRetry?: () => void; title?: string; cure?: string }): ReactNode {
  const { error, onRetry, title, cure } = props;
  const { code, message, requestId, retryAfterS } = asApiError(error);
  return (
    <div className="error-note" role="alert">
      <Icon name="warning" />
      <div className="error-body">
        {title !== undefined && <strong>{title}</strong>}
        <p>{message}</p>
        {/* Its own boundary: while the catalogue is loaded, the screen around the error stays. */}
        <Suspense>{cure === undefined ? <Cure code={code} /> : <p className="soft">{cure}</p>}</Suspense>
        <p className="small faint">
          <code>{code}</code>
          {retryAfterS !== null && <> · try again in {retryAfterS} s</>}
          {requestId !== null && (
            <>
              {' '}
              · request <code>{requestId}</code>
            </>
          )}
        </p>
      </div>
      {onRetry !== undefined && (
        <Button onClick={onRetry} icon={<Icon name="again" />}>
          Try again
        </Button>
      )}
    </div>
  );
}

function Cure({ code }: { code: string }): ReactNode {
  const cure = use(cureOf(code));
  return cure === null ? null : <p className="soft">{cure}</p>;
}
