import { useEffect, useState, type ReactNode } from 'react';
import { copyText } from '../copy-text';
import { Button } from './button';
import { Icon } from './icon';

const SHOWN_MS = 1_600;

/** Copies a text and says that it did. */
export function CopyButton(props: { text: string; label: string; children?: ReactNode }): ReactNode {
  const { text, label, children } = props;
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'refused'>('none');
  useEffect(() => {
    if (outcome === 'none') return;
    const timer = setTimeout(() => setOutcome('none'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    copyText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    );
  };
  const icon = <Icon name={outcome === 'copied' ? 'check' : outcome === 'refused' ? 'warning' : 'copy'} />;
  return (
    <>
      <Button kind="quiet" icon={icon} onClick={copy} aria-label={label} title={label}>
        {children}
      </Button>
      <span className="unseen" role="status">
        {outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'The browser refused to copy' : ''}
      </span>
    </>
  );
}
