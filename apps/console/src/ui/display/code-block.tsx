import type { ReactNode } from 'react';
import { CopyButton } from '../controls/copy-button';
import './code-block.css';

/** Text to copy into a terminal or a program. */
export function CodeBlock({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <figure className="code-block">
      <figcaption>
        <span className="small soft">{label}</span>
        <CopyButton text={text} label={`Copy ${label}`} />
      </figcaption>
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}
