/** What metrics do, minute by minute, in the notation of promtool. */
export type Series = Record<string, string>;

/** What the metrics do when an alert must fire, and what they do when it must not, each in one case or several. */
export interface AlertCase {
  firing: Series | Series[];
  quiet: Series | Series[];
}

const POOL = 'namespace="prod",pool="default"';

/** Starts of jobs: those within the five minutes of the objective, and all. */
interface Starts {
  prompt: string;
  all: string;
}

/** Ends of jobs by whose fault it is that they did not succeed. */
interface Ends {
  service: string;
  good: string;
  caller?: string;
}

/** The alerts on burn rates. */
export const BURN_CASES: Record<string, AlertCase> = {
  MillraceErrorsBurnFast: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+5x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+95x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+95x120',
      },
      // One of thirty in an hour, just now.
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x117 1x3',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceErrorsBurn: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+1x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+1x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+300x120',
      },
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x60 1x40 2x20',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceErrorsBurnSlowly: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="502"}': '0+1x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="429"}': '0+9x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
      },
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x30 1x40 2x50',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceStartsBurnFast: startCases(
    [{ prompt: '0+1x120', all: '0+9x120' }],
    [
      { prompt: '0+5x120', all: '0+9x120' },
      // One of two in an hour.
      { prompt: '0x90 0x30', all: '0x90 2x30' },
    ],
  ),
  MillraceStartsBurn: startCases(
    [{ prompt: '0+6x120', all: '0+10x120' }],
    [
      { prompt: '0+9x120', all: '0+10x120' },
      // It was bad an hour ago, and is well.
      { prompt: '0+1x60 60+10x60', all: '0+10x120' },
    ],
  ),
  MillraceStartsBurnSlowly: startCases(
    [{ prompt: '0+92x120', all: '0+100x120' }],
    [{ prompt: '0+97x120', all: '0+100x120' }],
  ),
  MillraceSuccessBurnFast: successCases(
    [{ service: '0+2x120', good: '0+8x120' }],
    [
      { service: '0+1x120', good: '0+9x120' },
      // Graphs that fail are their caller's.
      { service: '0x120', caller: '0+9x120', good: '0+1x120' },
      // Four that the service lost, of ten in an hour.
      { service: '0x110 4x10', good: '0+0.1x120' },
    ],
  ),
  MillraceSuccessBurn: successCases(
    [{ service: '0+1x120', good: '0+9x120' }],
    [
      { service: '0+1x120', good: '0+30x120' },
      { service: '0+1x60 60x60', good: '0+9x120' },
    ],
  ),
  MillraceSuccessBurnSlowly: successCases(
    [{ service: '0+2x120', good: '0+98x120' }],
    [
      { service: '0+1x120', good: '0+200x120' },
      { service: '0x120', caller: '0+50x120', good: '0+50x120' },
    ],
  ),
};

function startCases([firing]: [Starts], quiet: Starts[]): AlertCase {
  const series = ({ prompt, all }: Starts): Series => ({
    [`millrace_job_start_delay_seconds_bucket{${POOL},le="300"}`]: prompt,
    [`millrace_job_start_delay_seconds_count{${POOL}}`]: all,
  });
  return { firing: series(firing), quiet: quiet.map(series) };
}

function successCases([firing]: [Ends], quiet: Ends[]): AlertCase {
  const series = ({ service, good, caller }: Ends): Series => ({
    [`millrace_jobs_finished_total{${POOL},status="failed",fault="service"}`]: service,
    [`millrace_jobs_finished_total{${POOL},status="succeeded",fault="none"}`]: good,
    ...(caller === undefined
      ? {}
      : { [`millrace_jobs_finished_total{${POOL},status="failed",fault="caller"}`]: caller }),
    [`millrace_jobs_finished_total{${POOL},status="canceled",fault="none"}`]: '0+500x120',
  });
  return { firing: series(firing), quiet: quiet.map(series) };
}
