import type { ReactNode } from 'react';
import { Sign } from '../../../src/ui/display/status';
import { Ago } from '../../../src/ui/display/time';
import { formatDuration, formatTime, shortId } from '../../../src/ui/format';
import type { Attempt, OperatedJob } from '../api/jobs';
import './job-history.css';

/** Which workers had the job, for how long, and how each attempt ended. */
export function Attempts({ job }: { job: OperatedJob }): ReactNode {
  return (
    <section className="panel" aria-labelledby="attempts">
      <div className="panel-head">
        <h2 id="attempts">Attempts</h2>
        <span className="small soft number">
          {job.attempts.length} of {job.max_attempts}
        </span>
      </div>
      {job.attempts.length === 0 && <p className="panel-note soft">No worker has taken it yet.</p>}
      <ol className="history">
        {job.attempts.map((attempt) => (
          <li key={attempt.number}>
            <span className="number faint">#{attempt.number}</span>
            <span>
              <Sign tone={toneOf(attempt)}>{attempt.outcome ?? 'runs now'}</Sign>
            </span>
            <span className="mono small" title={attempt.worker_id}>
              worker {shortId(attempt.worker_id)}
            </span>
            <span className="number small">{timesOf(attempt)}</span>
            <Ago at={attempt.claimed_at} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function toneOf({ outcome }: Attempt): 'busy' | 'good' | 'warn' {
  if (outcome === null) return 'busy';
  return outcome === 'succeeded' ? 'good' : 'warn';
}

function timesOf({ claimed_at, ended_at, engine_ms }: Attempt): string {
  const held = ended_at === null ? null : formatDuration(Date.parse(ended_at) - Date.parse(claimed_at));
  const engine = engine_ms === null ? null : `${formatDuration(engine_ms)} on the engine`;
  return [held, engine].filter((text) => text !== null).join(', ');
}

/** Every change of the job's status, and what caused it. */
export function Transitions({ job }: { job: OperatedJob }): ReactNode {
  return (
    <section className="panel" aria-labelledby="events">
      <div className="panel-head">
        <h2 id="events">Events</h2>
      </div>
      <ol className="history">
        {job.transitions.map(({ seq, from, to, attempt, cause, worker_id: worker, at }) => (
          <li key={seq}>
            <span className="number faint">{seq}</span>
            <span>{from === null || from === to ? to : `${from} → ${to}`}</span>
            <span className="mono small">{cause}</span>
            <span className="small soft number">
              {attempt > 0 && `attempt ${attempt}`}
              {worker !== null && ` · worker ${shortId(worker)}`}
            </span>
            <time className="number small" dateTime={at}>
              {formatTime(Date.parse(at))}
            </time>
          </li>
        ))}
      </ol>
    </section>
  );
}
