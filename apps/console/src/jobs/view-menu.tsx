import { useState, type FormEvent, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Icon } from '../ui/controls/icon';
import { Modal } from '../ui/controls/modal';
import type { JobsSearch } from './jobs-search';
import { forgetView, isSameSearch, readViews, saveView } from './saved-views';

const LONGEST_NAME = 40;

/** Filters that are used again: chosen by name, saved, forgotten. They are kept in this browser. */
export function ViewMenu({ search }: { search: JobsSearch }): ReactNode {
  const navigate = useNavigate({ from: '/jobs' });
  const [views, setViews] = useState(() => readViews(localStorage));
  const [isNaming, setIsNaming] = useState(false);
  const shown = views.find((view) => isSameSearch(view.search, search));
  const open = (name: string): void => {
    const view = views.find((other) => other.name === name);
    if (view) void navigate({ search: view.search });
  };
  return (
    <>
      {views.length > 0 && (
        <select
          className="input"
          aria-label="Saved view"
          value={shown?.name ?? ''}
          onChange={(event) => open(event.target.value)}
        >
          <option value="" disabled>
            Saved views
          </option>
          {views.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {shown !== undefined && (
        <Button kind="quiet" onClick={() => setViews(forgetView(shown.name, localStorage))}>
          Forget this view
        </Button>
      )}
      {shown === undefined && Object.keys(search).length > 0 && (
        <Button kind="quiet" icon={<Icon name="plus" />} onClick={() => setIsNaming(true)}>
          Save this view
        </Button>
      )}
      <NameDialog
        open={isNaming}
        onClose={() => setIsNaming(false)}
        onName={(name) => {
          setViews(saveView({ name, search }, localStorage));
          setIsNaming(false);
        }}
      />
    </>
  );
}

interface NameDialogProps {
  open: boolean;
  onClose: () => void;
  onName: (name: string) => void;
}

function NameDialog({ open, onClose, onName }: NameDialogProps): ReactNode {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    onName(name.trim());
    setName('');
  };
  return (
    <Modal
      title="Save this view"
      open={open}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={name.trim() === ''} onClick={submit}>
          Save
        </Button>
      }
    >
      <form onSubmit={submit}>
        <Field label="Name" note="It is kept in this browser. A view of the same name is replaced.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              maxLength={LONGEST_NAME}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Modal>
  );
}
