import { useId, type FormEvent, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { engineClassesQuery, type EngineClass } from '../api/engine-classes';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';

interface ClassFormProps {
  title: string;
  /** What its button says. */
  verb: string;
  busy: boolean;
  /** Why it was refused, with what did not happen. */
  refusal: { error: unknown; title: string } | null;
  onSubmit: (classes: EngineClass[]) => void;
  onClose: () => void;
  children: (classes: EngineClass[]) => ReactNode;
}

/** A form in a dialog, whose fields need the engine classes that there are. */
export function ClassForm({ title, verb, busy, refusal, onSubmit, onClose, children }: ClassFormProps): ReactNode {
  const classes = useQuery(engineClassesQuery);
  const form = useId();
  const offered = classes.data ?? [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit(offered);
  };
  return (
    <Modal
      title={title}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={busy} disabled={offered.length === 0}>
            {verb}
          </Button>
        </>
      }
    >
      {classes.isPending && <Skeleton lines={4} />}
      {classes.isError && <ErrorNote error={classes.error} onRetry={() => classes.refetch()} />}
      {classes.isSuccess && offered.length === 0 && <NoClasses />}
      {offered.length > 0 && (
        <form id={form} className="deployment-form" onSubmit={submit}>
          {children(offered)}
        </form>
      )}
      {refusal !== null && <ErrorNote error={refusal.error} title={refusal.title} />}
    </Modal>
  );
}

function NoClasses(): ReactNode {
  return (
    <Empty icon="deployments" title="There is nothing to run on">
      <p>The operator of this service offers no engine classes. Ask them for one.</p>
    </Empty>
  );
}
