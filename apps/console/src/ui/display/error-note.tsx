import { createContext, use, useState, type ReactNode } from 'react';
import { asApiError, isOutage, titleOf } from '../../api/api-error';
import { Button } from '../controls/button';
import { ownCure, useCure } from '../cures';
import { Icon } from '../controls/icon';
import './error-note.css';

/** Makes the link to what the docs say about a code, where the page has docs. */
export const DocsOfError = createContext<((code: string) => ReactNode) | null>(null);

/** Where to look while the service does not answer: what is said below such an error. */
export const OutageHelp = createContext<ReactNode>(null);

/**
 * An error as a person needs it: what happened, its code, and what to do about it.
 *
 * @param props.cure what to do here, where the catalogue's cure is meant for programs.
 * @param props.onRetry asks again; the note says so until its promise is settled.
 */
export function ErrorNote(props: {
  error: unknown;
  onRetry?: () => Promise<unknown>;
  title?: string;
  cure?: string;
}): ReactNode {
  const { onRetry, cure } = props;
  const outageHelp = use(OutageHelp);
  const error = asApiError(props.error);
  const { code, message, requestId, retryAfterS } = error;
  const title = titleOf(error, props.title);
  return (
    <div className="error-note" role="alert">
      <Icon name="warning" />
      <div className="error-body">
        {title !== undefined && <strong>{title}</strong>}
        <p>{message}</p>
        <Cure code={code} text={cure} />
        {isOutage(error) && outageHelp !== null && <p className="soft">{outageHelp}</p>}
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
      {onRetry !== undefined && <Retry act={onRetry} />}
    </div>
  );
}

/** It stays enabled while it asks again: the focus stays on it. */
function Retry({ act }: { act: () => Promise<unknown> }): ReactNode {
  const [asking, setAsking] = useState(false);
  const ask = (): void => {
    if (asking) return;
    setAsking(true);
    void act().finally(() => setAsking(false));
  };
  return (
    <Button onClick={ask} icon={<Icon name="again" />}>
      {asking ? 'Trying again …' : 'Try again'}
    </Button>
  );
}

/** What to do, and where the docs say more about the code. Nothing of a code that they do not have. */
export function Cure({ code, text }: { code: string; text?: string | undefined }): ReactNode {
  const catalogued = useCure(code);
  const docsOf = use(DocsOfError);
  if (catalogued === null) {
    const known = text ?? ownCure(code);
    return known === null ? null : <p className="soft">{known}</p>;
  }
  return (
    <p className="soft">
      {text ?? catalogued} {docsOf?.(code)}
    </p>
  );
}
