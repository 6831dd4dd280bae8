import type { ReactNode } from 'react';
import type { Connection } from './use-job-stream';
import './connection-sign.css';

const TEXTS: Record<Connection, { text: string; title: string } | null> = {
  connecting: { text: 'Connecting', title: 'The live stream is being opened.' },
  live: { text: 'Live', title: 'Changes arrive as they happen.' },
  polling: {
    text: 'Reconnecting',
    title: 'The live stream is away. The page asks every two seconds until it is back.',
  },
  ended: null,
};

/** Whether what one sees is live. */
export function ConnectionSign({ connection }: { connection: Connection }): ReactNode {
  const shown = TEXTS[connection];
  if (shown === null) return null;
  return (
    <span className={`connection ${connection}`} title={shown.title} role="status">
      {shown.text}
    </span>
  );
}
