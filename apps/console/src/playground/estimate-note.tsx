import type { ReactNode } from 'react';
import type { Estimate } from '@millrace/contracts';
import { formatCredits, formatDuration } from '../ui/format';

/** What pressing the button beside it would come to. */
export function EstimateNote({ estimate }: { estimate: Estimate }): ReactNode {
  if (estimate.error !== null) {
    const isShownOnNodes = estimate.error.code === 'invalid_workflow';
    return !isShownOnNodes && <p className="estimate estimate-refused">{estimate.error.message}</p>;
  }
  if (typeof estimate.reuse?.job_id === 'string')
    return <p className="estimate">Answered at once with earlier outputs, free</p>;
  const [text, more] = textsOf(estimate);
  return (
    <p className="estimate" title={more}>
      {text}
      {estimate.wait_ms !== null && estimate.wait_ms > 0 && `, starts in about ${formatDuration(estimate.wait_ms)}`}
    </p>
  );
}

/** The probable run, and what more there is to say about it. */
function textsOf({ run_ms: run, cost_micros: cost, known_runs: runs, hold_micros: hold }: Estimate): [string, string?] {
  const held = hold !== null && hold > 0 ? `${formatCredits(hold)} credits are held while it runs.` : undefined;
  if (run === null) return ['Its first run: time and cost are not known yet', held];
  const isFree = cost === null || cost.p90 === 0;
  const from = `Of ${runs === 1 ? 'one earlier run' : `${runs} earlier runs`}, nine in ten took at most`;
  const most = `${formatDuration(run.p90)}${isFree ? '' : ` and ${formatCredits(cost.p90)} credits`}.`;
  const text = `About ${formatDuration(run.p50)}${isFree ? '' : `, ${formatCredits(cost.p50)} credits`}`;
  return [text, [`${from} ${most}`, held].filter(Boolean).join(' ')];
}
