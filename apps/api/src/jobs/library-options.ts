import type { InputSpec } from '@millrace/contracts';
import type { ListedModel } from '@millrace/models';
import { modelFolderOf } from '@millrace/workflow';

/** The most that one input is offered of a library: node packs have dozens of such inputs in one class. */
export const MOST_OPTIONS = 500;

type Options = NonNullable<InputSpec['options']>;

/** What inputs of loader nodes are offered of a library besides what their engine lists. */
export class LibraryOptions {
  private readonly byFolder = new Map<string, string[]>();

  /** @param models those that the caller may see, in the order in which they are offered. */
  constructor(models: readonly ListedModel[]) {
    for (const { folder, name } of models) {
      const names = this.byFolder.get(folder) ?? [];
      if (names.length < MOST_OPTIONS) names.push(name);
      this.byFolder.set(folder, names);
    }
  }

  /** The names for an input, each once; none where it takes no models of a library, or its folder is not known. */
  for(className: string, input: string, { libraryModels, type }: InputSpec): readonly string[] {
    if (libraryModels !== true || type !== 'COMBO') return [];
    const folder = modelFolderOf(className, input, this.byFolder.keys());
    return (folder !== null && this.byFolder.get(folder)) || [];
  }
}

/** The options of an engine, and after them those names of a library that are not among them. */
export function withNames(options: Options = [], names: readonly string[]): Options {
  const known = new Set<Options[number]>(options);
  return [...options, ...names.filter((name) => !known.has(name))];
}
