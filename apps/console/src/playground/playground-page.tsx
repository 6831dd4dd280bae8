import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { jobWorkflowQuery } from '../api/jobs';
import { nodeClassesQuery } from '../api/node-classes';
import { graphTextOf } from '../graph';
import { Page } from '../shell/page';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { Editor } from './editor';
import { GraphIntake } from './graph-intake';
import './playground.css';

const route = getRouteApi('/new');

/** A new job: a graph, its values as a form, and what it will be checked against. */
export function PlaygroundPage(): ReactNode {
  const { from, deployment } = route.useSearch();
  const [given, setGiven] = useState<string | null>(null);
  const navigate = route.useNavigate();
  const before = useQuery({ ...jobWorkflowQuery({ id: from ?? '', deployment }), enabled: from !== undefined });
  const classes = useQuery(nodeClassesQuery(deployment));
  const text = given ?? (before.data === undefined ? null : graphTextOf(before.data));
  const reset = (): void => {
    setGiven(null);
    void navigate({ search: deployment === undefined ? {} : { deployment } });
  };
  return (
    <Page title="New job" actions={text !== null && <Button onClick={reset}>Another graph</Button>}>
      {before.isError && <ErrorNote error={before.error} title="The graph of that job could not be read" />}
      {classes.isError && <ErrorNote error={classes.error} onRetry={() => void classes.refetch()} />}
      {from !== undefined && before.isPending && <Skeleton lines={6} />}
      {text === null && !(from !== undefined && before.isPending) && <GraphIntake onGraph={setGiven} />}
      {text !== null && <Editor text={text} onText={setGiven} classes={classes.data ?? null} deployment={deployment} />}
    </Page>
  );
}
