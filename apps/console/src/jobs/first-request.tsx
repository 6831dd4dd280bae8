import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { CodeBlock } from '../ui/display/code-block';
import { Empty } from '../ui/display/empty';

/** The first request, for this host: what an empty list is for. */
export function FirstRequest({ mayWrite }: { mayWrite: boolean }): ReactNode {
  return (
    <Empty icon="jobs" title="No jobs yet">
      <p>
        A job runs one graph.{' '}
        {mayWrite ? (
          <>
            <Link to="/new">Run the first one here</Link>, or submit it from a terminal; it appears at once.
          </>
        ) : (
          'This session may not run one: it needs the scope jobs:write. Submitted from a terminal, it appears at once.'
        )}
      </p>
      <CodeBlock label="Terminal" text={curl(window.location.origin)} />
    </Empty>
  );
}

const curl = (origin: string): string => `export MILLRACE_API_KEY=mr_live_...   # your key

curl -s ${origin}/api/v2/jobs \\
  -H "Authorization: Bearer $MILLRACE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"workflow": {
    "1": {"class_type": "EmptyImage",
          "inputs": {"width": 512, "height": 512, "batch_size": 1, "color": 3368601}},
    "2": {"class_type": "SaveImage",
          "inputs": {"images": ["1", 0], "filename_prefix": "blue"}}}}'`;
