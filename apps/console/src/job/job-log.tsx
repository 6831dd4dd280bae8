import type { ReactNode } from 'react';
import type { Job } from '@millrace/contracts';
import { CopyButton } from '../ui/controls/copy-button';
import { Ago } from '../ui/display/time';
import './log.css';

/** What the run printed, as text: its content is untrusted (contract, 2.6). Only jobs of deployments have it. */
export function JobLog({ job }: { job: Job }): ReactNode {
  if (job.urls.logs === undefined) return null;
  const { logs } = job;
  return (
    <section className="panel" aria-label="Log">
      <div className="panel-head">
        <h2>Log</h2>
        {logs !== undefined && (
          <span className="log-facts small soft">
            {logs.truncated && 'The beginning is cut off · '}
            read <Ago at={logs.captured_at} />
            <CopyButton text={logs.text} label="Copy the log" />
          </span>
        )}
      </div>
      {logs === undefined ? (
        <p className="outputs-none soft">
          {job.completed_at === null ? 'The log is read when the job has ended.' : 'Nothing was captured for this job.'}
        </p>
      ) : (
        <pre className="log" tabIndex={0}>
          {logs.text === '' ? 'The run printed nothing.' : logs.text}
        </pre>
      )}
    </section>
  );
}
