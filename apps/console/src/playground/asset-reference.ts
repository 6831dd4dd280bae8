import type { NodeClassView } from '@millrace/contracts';
import { readGraph, withInput } from '../graph';

/** An asset as it stands in a graph (contract, 4.1), as JSON. */
export const referenceTo = (id: string): string => JSON.stringify({ __type: 'core/ASSET', info: { id } });

/** The id of the asset that a value refers to; undefined for any other value. */
export function referredAsset(json: string | null): string | undefined {
  const value = json === null ? null : (JSON.parse(json) as { info?: { id?: unknown } } | null);
  const id = value?.info?.id;
  return typeof id === 'string' ? id : undefined;
}

/** Types of content that a widget reads, by the name that its class gives them; of any other name, all. */
export const contentOf = (file: string): string | undefined =>
  ['image', 'video', 'audio'].includes(file) ? `${file}/` : undefined;

/** A graph whose first input for a file of this type is the asset; the graph itself where it has none. */
export function withAsset(
  text: string,
  classes: Readonly<Record<string, NodeClassView>>,
  asset: { id: string; content_type: string },
): string {
  const graph = readGraph(text);
  for (const { id, classType } of 'nodes' in graph ? graph.nodes : []) {
    for (const [name, { file }] of Object.entries(classes[classType]?.inputs ?? {})) {
      if (file === undefined || !asset.content_type.startsWith(contentOf(file) ?? '')) continue;
      return withInput(text, id, name, referenceTo(asset.id));
    }
  }
  return text;
}
