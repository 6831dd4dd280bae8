import type { ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Sign } from '../../../src/ui/display/status';
import { Ago } from '../../../src/ui/display/time';
import { lastAuditQuery, runAudit, type Finding } from '../api/overview';

/** Whether credits, jobs, stored bytes and the audit log are what they should be: the last run, its findings, and a new run. */
export function AuditPanel(): ReactNode {
  const client = useQueryClient();
  const last = useQuery(lastAuditQuery);
  const run = useMutation({
    mutationFn: runAudit,
    onSettled: () => client.invalidateQueries({ queryKey: lastAuditQuery.queryKey }),
  });
  const seen = last.data?.details;
  return (
    <section className="panel" aria-labelledby="audit">
      <div className="panel-head">
        <h2 id="audit">Invariants</h2>
        <Button icon={<Icon name="again" />} busy={run.isPending} onClick={() => run.mutate()}>
          {run.isPending ? 'Checking …' : 'Run an audit'}
        </Button>
      </div>
      <div className="panel-body">
        {last.isError && <ErrorNote error={last.error} onRetry={() => last.refetch()} />}
        {run.isError && <ErrorNote error={run.error} title="The audit did not run" />}
        {last.data === null && !run.isPending && (
          <p className="soft">
            No operator has run an audit yet. It checks credits, jobs, stored bytes and the audit log, and changes none
            of them.
          </p>
        )}
        {last.data && seen && (
          <p role="status">
            <Sign tone={seen.ok ? 'good' : 'bad'} icon={seen.ok ? 'check' : 'warning'}>
              {seen.ok ? 'All hold' : `${seen.findings}${seen.truncated ? ' or more' : ''} findings`}
            </Sign>{' '}
            <span className="soft">
              Last run <Ago at={last.data.at} />: {seen.audits.join(', ')}.
              {(seen.truncated_audits ?? []).length > 0 && ` Ended early: ${seen.truncated_audits?.join(', ')}.`}
            </span>
          </p>
        )}
        {seen && seen.first.length > 0 && <Findings findings={seen.first} all={seen.findings} />}
      </div>
    </section>
  );
}

function Findings({ findings, all }: { findings: readonly Finding[]; all: number }): ReactNode {
  return (
    <>
      <ul className="findings">
        {findings.map(({ audit, check, subject, detail }, index) => (
          <li key={index}>
            <strong>
              {audit}: {check}
            </strong>
            <code>{subject}</code>
            <span className="soft">{detail}</span>
          </li>
        ))}
      </ul>
      {all > findings.length && (
        <p className="small soft">
          The first {findings.length} of {all}. All of them: <code>millrace admin audit</code>. What to do:
          docs/alerts.md.
        </p>
      )}
    </>
  );
}
