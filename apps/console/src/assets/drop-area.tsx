import { useState, type DragEvent, type ReactNode } from 'react';

/** Takes files that are dropped anywhere on what it holds; none where `onFiles` is undefined. */
export function DropArea(props: { onFiles: ((files: File[]) => void) | undefined; children: ReactNode }): ReactNode {
  const { onFiles, children } = props;
  const [over, setOver] = useState(false);
  const holdsFiles = ({ dataTransfer }: DragEvent): boolean =>
    onFiles !== undefined && dataTransfer.types.includes('Files');
  return (
    <div
      className="drop-area"
      data-over={over}
      onDragOver={(event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!holdsFiles(event)) return;
        event.preventDefault();
        onFiles?.([...event.dataTransfer.files]);
      }}
    >
      {children}
    </div>
  );
}
