import type { ReactNode } from 'react';
import type { IssuedApiKey } from '../api/api-keys';
import { OnceDialog } from '../ui/controls/once-dialog';
import { CodeBlock } from '../ui/display/code-block';
import { Ago } from '../ui/display/time';

interface KeyDialogProps {
  title: string;
  /** The new key, when there is one. */
  issued: IssuedApiKey | undefined;
  pending: boolean;
  onClose: () => void;
  /** The button that makes the key. */
  action: ReactNode;
  /** What is asked before. */
  children: ReactNode;
}

/** A dialog that ends with a new key. */
export function KeyDialog({ issued, ...dialog }: KeyDialogProps): ReactNode {
  const shown = issued && { title: `The key of ${issued.name}`, content: <IssuedKey issued={issued} /> };
  return <OnceDialog {...dialog} shown={shown} />;
}

function IssuedKey({ issued }: { issued: IssuedApiKey }): ReactNode {
  return (
    <>
      <p>
        <strong>It will not be shown again.</strong> The service keeps only its hash. Copy it to where your program
        reads it.
      </p>
      <CodeBlock label="API key" text={issued.key} />
      {issued.expires_at !== null && (
        <p className="soft">
          It expires <Ago at={issued.expires_at} />.
        </p>
      )}
    </>
  );
}
