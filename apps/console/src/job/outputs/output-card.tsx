import type { ReactNode } from 'react';
import type { Output } from '@millrace/contracts';
import { formatBytes } from '../../ui/format';
import { Icon } from '../../ui/controls/icon';
import { isPicture, isReadable } from '../../ui/media';
import { OutputText } from './output-text';

interface OutputCardProps {
  output: Output;
  madeBy: string;
  onView: () => void;
  onShow: () => void;
}

/**
 * An output: pictures, video and audio play, text is read as text, anything else is a download. Documents that could hold scripts
 * (SVG, HTML) are text or a download, never rendered.
 */
export function OutputCard({ output, madeBy, onView, onShow }: OutputCardProps): ReactNode {
  return (
    <li className="output">
      <Content output={output} onView={onView} />
      <div className="output-foot">
        <div className="output-name">
          <span className="clip" title={output.name}>
            {output.name}
          </span>
          <span className="small faint clip">
            {formatBytes(output.size_bytes)} ·{' '}
            <button type="button" className="link-button" onClick={onShow}>
              {madeBy}
            </button>
          </span>
        </div>
        <a
          className="button quiet square"
          href={output.url}
          download={output.name}
          aria-label={`Download ${output.name}`}
        >
          <Icon name="download" />
        </a>
      </div>
    </li>
  );
}

function Content({ output, onView }: { output: Output; onView: () => void }): ReactNode {
  if (isPicture(output)) {
    return (
      <button type="button" className="output-picture" onClick={onView} aria-label={`Look at ${output.name}`}>
        <img src={output.url} alt={output.name} loading="lazy" decoding="async" />
      </button>
    );
  }
  if (output.type === 'video') return <video src={output.url} controls preload="metadata" aria-label={output.name} />;
  if (output.type === 'audio') return <audio src={output.url} controls preload="metadata" aria-label={output.name} />;
  if (isReadable(output)) return <OutputText output={output} />;
  return (
    <div className="output-file">
      <Icon name="file" size={24} />
      <span className="small soft">{output.content_type}</span>
    </div>
  );
}
