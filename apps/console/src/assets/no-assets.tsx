import type { ReactNode } from 'react';
import { CodeBlock } from '../ui/display/code-block';
import { Empty } from '../ui/display/empty';

/** What an empty list of uploads is for, and the first one. */
export function NoAssets(): ReactNode {
  return (
    <Empty icon="assets" title="No uploads yet">
      <p>
        An upload is a file that a graph reads: a picture, a video, a sound. Drop one here, or send it from a terminal.
        The same bytes are stored once, however often they are sent.
      </p>
      <CodeBlock label="Terminal" text={curl(window.location.origin)} />
    </Empty>
  );
}

const curl = (origin: string): string => `export MILLRACE_API_KEY=mr_live_...   # your key

curl -s ${origin}/api/v2/assets \\
  -H "Authorization: Bearer $MILLRACE_API_KEY" \\
  -F content_type=image/png -F file_path=photo.png -F file=@photo.png`;
