import { useState, type FormEvent, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';

/** Opens the job of an id. */
export function FindJob(): ReactNode {
  const [id, setId] = useState('');
  const navigate = useNavigate();
  const open = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ to: '/jobs/$jobId', params: { jobId: id.trim() } });
  };
  return (
    <form className="tools" onSubmit={open}>
      <input
        className="input mono"
        aria-label="Id of a job"
        placeholder="Id of a job"
        value={id}
        pattern="\s*[0-9a-fA-F\-]{36}\s*"
        title="36 characters, such as 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
        required
        onChange={(event) => setId(event.target.value)}
      />
      <Button type="submit" icon={<Icon name="search" />}>
        Open the job
      </Button>
    </form>
  );
}
