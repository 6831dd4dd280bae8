import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Job, JobAttempts } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { jobAttemptsQuery, type JobPlace } from '../api/jobs';
import { capital, formatDuration } from '../ui/format';
import { Ago } from '../ui/display/time';
import './attempts.css';

type Attempt = JobAttempts['attempts'][number];

/** The attempts of a job that needed more than one: how each ended, and that a lost one costs nothing. */
export function Attempts({ job, place }: { job: Job; place: JobPlace }): ReactNode {
  const attempts = useQuery({ ...jobAttemptsQuery(place, isEnded(job.status)), enabled: job.started_at !== null });
  const shown = attempts.data?.attempts ?? [];
  if (shown.length < 2) return null;
  return (
    <section className="panel" aria-label="Attempts">
      <div className="panel-head">
        <h2>Attempts</h2>
        <span className="small soft">{shown.length}, the first one first</span>
      </div>
      <ol className="attempts">
        {shown.map((attempt) => (
          <li key={attempt.number} data-outcome={attempt.outcome ?? 'running'}>
            <span className="attempt-number number">{attempt.number}</span>
            <div>
              <p>
                <strong>{nameOf(attempt)}</strong> {attempt.message}
              </p>
              {attempt.error !== null && <p className="soft">{attempt.error.message}</p>}
              <p className="small soft">
                <Ago at={attempt.started_at} />
                {attempt.ended_at !== null && <> · {formatDuration(tookMs(attempt.started_at, attempt.ended_at))}</>}
                {attempt.charge !== null && <> · {attempt.charge === 'charged' ? 'charged' : 'not charged'}</>}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function nameOf({ outcome }: Attempt): string {
  return `${capital((outcome ?? 'running').replace('_', ' '))}.`;
}

const tookMs = (from: string, to: string): number => Date.parse(to) - Date.parse(from);
