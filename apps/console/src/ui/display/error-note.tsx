import { createContext, use, type ReactNode } from 'react';
import { asApiError, titleOf } from '../../api/api-error';
import { Button } from '../controls/button';
import { useCure } from '../cures';
import { Icon } from '../controls/icon';
import './error-note.css';

/** Makes the link to what the docs say about a code, where the page has docs. */
export const DocsOfError = createContext<((code: string) => ReactNode) | null>(null);

/**
 * An error as a person needs it: what happened, its code, and what to do about it.
 *
 * @param props.cure what to do here, where the catalogue's cure is meant for programs.
 */
export function ErrorNote(props: { error: unknown; onRetry?: () => void; title?: string; cure?: string }): ReactNode {
  const { onRetry, cure } = props;
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

/** What to do, and where the docs say more about the code. Nothing of a code that they do not have. */
export function Cure({ code, text }: { code: string; text?: string | undefined }): ReactNode {
  const catalogued = useCure(code);
  const docsOf = use(DocsOfError);
  if (catalogued === null) return text === undefined ? null : <p className="soft">{text}</p>;
  return (
    <p className="soft">
      {text ?? catalogued} {docsOf?.(code)}
    </p>
  );
}
