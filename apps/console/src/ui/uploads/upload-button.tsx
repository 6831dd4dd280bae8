import { useRef, type ReactNode } from 'react';
import { Button } from '../controls/button';
import { Icon } from '../controls/icon';

interface UploadButtonProps {
  kind?: 'plain' | 'primary';
  /** Types that are offered first, as of `accept`. */
  accept?: string | undefined;
  multiple?: boolean;
  busy?: boolean;
  label: string;
  onFiles: (files: File[]) => void;
  children: ReactNode;
}

/** Opens the device's files. Choosing the same file again counts as choosing. */
export function UploadButton(props: UploadButtonProps): ReactNode {
  const { kind = 'plain', accept, multiple = false, busy = false, label, onFiles, children } = props;
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button kind={kind} icon={<Icon name="upload" />} busy={busy} onClick={() => picker.current?.click()}>
        {children}
      </Button>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={label}
        accept={accept}
        multiple={multiple}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}
