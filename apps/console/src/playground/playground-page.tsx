import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { assetQuery } from '../api/assets';
import { jobWorkflowQuery } from '../api/jobs';
import { nodeClassesQuery } from '../api/node-classes';
import { graphTextOf } from '../graph';
import { Page } from '../shell/page';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { withAsset } from './asset-reference';
import { Editor } from './editor';
import { GraphIntake } from './graph-intake';
import './playground.css';

const route = getRouteApi('/new');

/** A new job: a graph, its values as a form, and what it will be checked against. */
export function PlaygroundPage(): ReactNode {
  const { from, deployment, asset: assetId } = route.useSearch();
  const [given, setGiven] = useState<string | null>(null);
  const navigate = route.useNavigate();
  const before = useQuery({ ...jobWorkflowQuery({ id: from ?? '', deployment }), enabled: from !== undefined });
  const classes = useQuery(nodeClassesQuery(deployment));
  const asset = useQuery({ ...assetQuery(assetId ?? ''), enabled: assetId !== undefined });
  const take = (graph: string): void =>
    setGiven(classes.data && asset.data ? withAsset(graph, classes.data, asset.data) : graph);
  const begun = before.data === undefined ? null : graphTextOf(before.data);
  const text = given ?? begun;
  const edit = (change: (text: string) => string): void =>
    setGiven((now) => {
      const current = now ?? begun;
      return current === null ? null : change(current);
    });
  const reset = (): void => {
    setGiven(null);
    void navigate({ search: deployment === undefined ? {} : { deployment } });
  };
  const reading =
    (from !== undefined && before.isPending) || (assetId !== undefined && (asset.isPending || classes.isPending));
  return (
    <Page title="New job" actions={text !== null && <Button onClick={reset}>Another graph</Button>}>
      {before.isError && <ErrorNote error={before.error} title="The graph of that job could not be read" />}
      {classes.isError && <ErrorNote error={classes.error} onRetry={() => classes.refetch()} />}
      {asset.isError && <ErrorNote error={asset.error} title="The file could not be read" />}
      {text === null && reading && <Skeleton lines={6} />}
      {text === null && !reading && <GraphIntake asset={asset.data} onGraph={take} />}
      {text !== null && <Editor text={text} onEdit={edit} classes={classes.data ?? null} deployment={deployment} />}
    </Page>
  );
}
