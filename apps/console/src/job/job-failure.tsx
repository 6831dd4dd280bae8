import { Suspense, type ReactNode } from 'react';
import type { JobError } from '@millrace/contracts';
import { Button } from '../ui/controls/button';
import { CopyButton } from '../ui/controls/copy-button';
import { Icon } from '../ui/controls/icon';
import { Cure } from '../ui/display/error-note';
import './failure.css';
import './log.css';

/** Why a job failed, with its node and its cure. The engine's texts are shown as they are, as text. */
export function JobFailure({ error, onShow }: { error: JobError; onShow: (node: string) => void }): ReactNode {
  const { code } = error;
  const node = error.node_id ?? null;
  const classType = error.class_type ?? null;
  const traceback = error.traceback ?? '';
  return (
    <section className="failure" role="alert" aria-label="Why the job failed">
      <Icon name="warning" size={18} />
      <div className="failure-body">
        <h2>
          {node === null ? 'The job failed' : `Node ${node} failed`}
          {classType !== null && <span className="soft"> · {classType}</span>}
        </h2>
        <p className="failure-message">{error.message}</p>
        <Suspense>
          <Cure code={code} />
        </Suspense>
        <p className="small faint">
          <code>{code}</code>
        </p>
        {traceback !== '' && (
          <details>
            <summary>Traceback</summary>
            <div className="traceback">
              <CopyButton text={traceback} label="Copy the traceback" />
              <pre tabIndex={0}>{traceback}</pre>
            </div>
          </details>
        )}
      </div>
      {node !== null && (
        <Button icon={<Icon name="search" />} onClick={() => onShow(node)}>
          Show the node
        </Button>
      )}
    </section>
  );
}
