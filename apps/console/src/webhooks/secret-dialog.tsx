import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { IssuedWebhookEndpoint } from '../api/webhooks';
import { OnceDialog } from '../ui/controls/once-dialog';
import { CodeBlock } from '../ui/display/code-block';

interface SecretDialogProps {
  title: string;
  /** The endpoint with its new secret, when there is one. */
  issued: IssuedWebhookEndpoint | undefined;
  pending: boolean;
  onClose: () => void;
  /** The button that makes the secret. */
  action: ReactNode;
  /** What is asked before. */
  children: ReactNode;
}

/** A dialog that ends with what messages are signed with. */
export function SecretDialog({ issued, ...dialog }: SecretDialogProps): ReactNode {
  const shown = issued && { title: 'The signing secret', content: <Secret secret={issued.secret} /> };
  return <OnceDialog {...dialog} shown={shown} />;
}

function Secret({ secret }: { secret: string }): ReactNode {
  return (
    <>
      <p>
        <strong>It will not be shown again.</strong> Copy it to your server, which{' '}
        <Link to="/docs/$" params={{ _splat: 'webhooks' }} hash="verify-a-message" target="_blank">
          verifies each message
        </Link>{' '}
        with it.
      </p>
      <CodeBlock label="Secret" text={secret} />
    </>
  );
}
