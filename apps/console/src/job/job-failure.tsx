import type { ReactNode } from 'react';
import type { JobError, JobErrorCode } from '@millrace/contracts';
import { Button } from '../ui/controls/button';
import { CopyButton } from '../ui/controls/copy-button';
import { Icon } from '../ui/controls/icon';
import './failure.css';
import './log.css';

const WORKER = 'Run it again. If it happens again, give the job id to who runs the service.';

/** What to do about each way in which a job fails (docs/errors.md has the causes). */
const CURES: Record<JobErrorCode, string> = {
  node_execution_error: 'Look at the node and the traceback, change its inputs, and run the graph again.',
  worker_lost: WORKER,
  engine_error: WORKER,
  input_unavailable: 'Upload the file again, and refer to the new asset.',
  output_storage_error: WORKER,
  execution_timeout: 'Make the graph smaller: fewer steps, a smaller picture, a smaller batch.',
  credential_unavailable: 'Submit the graph again, with the credential of its partner nodes.',
  credits_exhausted: 'Add credits to the account, then run the graph again.',
};

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
        <p className="soft">{CURES[code]}</p>
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
