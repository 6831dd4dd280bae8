import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { Dialog } from '@base-ui/react/dialog';
import { Icon } from '../ui/controls/icon';
import { useCommands, type Command } from './commands';
import './palette.css';

/** Commands by name: everything can be reached from the keyboard. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal palette" aria-label="Search and commands">
          <Choice onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choice({ onClose }: { onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const commands = useCommands(text);
  const current = Math.min(at, commands.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') run(commands[current]);
    else if (event.key === 'ArrowDown') setAt((current + 1) % commands.length);
    else if (event.key === 'ArrowUp') setAt((current + commands.length - 1) % commands.length);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <label className="palette-input">
        <Icon name="search" />
        <span className="unseen">Search and commands</span>
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={commands.length > 0 ? `palette-${current}` : undefined}
          autoFocus
          placeholder="Go to a screen, or paste the id of a job"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <ul id="palette-list" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <li
            key={command.label}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            className="menu-item"
            onPointerMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            {command.label}
          </li>
        ))}
        {commands.length === 0 && <li className="palette-none soft">Nothing has this name.</li>}
      </ul>
    </>
  );
}
