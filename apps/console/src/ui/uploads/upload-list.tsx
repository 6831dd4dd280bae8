import type { ReactNode } from 'react';
import { Button } from '../controls/button';
import { Icon } from '../controls/icon';
import { Bar } from '../display/bar';
import { isOver, type Upload, type UploadState } from './use-upload-queue';
import './uploads.css';

/** Uploads under way, and how those that are over ended. */
export function UploadList({ uploads, onClear }: { uploads: readonly Upload[]; onClear: () => void }): ReactNode {
  if (uploads.length === 0) return null;
  const over = uploads.every(({ state }) => isOver(state));
  return (
    <section className="panel uploads" aria-label="Uploads">
      <ul>
        {uploads.map(({ id, name, state }) => (
          <li key={id}>
            <Icon name={state.step === 'failed' ? 'warning' : isOver(state) ? 'check' : 'upload'} />
            <bdi className="clip">{name}</bdi>
            <span className={`small clip ${state.step === 'failed' ? 'upload-failed' : 'soft'}`} role="status">
              {textOf(state)}
            </span>
            {'share' in state && <Bar value={state.share} label={`Upload of ${name}`} />}
          </li>
        ))}
      </ul>
      {over && <Button kind="quiet" icon={<Icon name="close" />} aria-label="Hide these uploads" onClick={onClear} />}
    </section>
  );
}

function textOf(state: UploadState): string {
  switch (state.step) {
    case 'waiting':
      return 'Waits for its turn';
    case 'hashing':
      return 'Checking whether it is stored already';
    case 'sending':
      return 'Sending';
    case 'interrupted':
      return 'The connection broke off. It goes on by itself';
    case 'known':
      return 'Stored already';
    case 'stored':
      return 'Stored';
    case 'failed':
      return state.message;
  }
}
