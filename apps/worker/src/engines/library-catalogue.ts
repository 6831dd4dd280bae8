import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';
import { isModelFile } from '@millrace/workflow';

/** Inputs of loader nodes are called so: `ckpt_name`, `vae_name`, `clip_name1`. An engine without a file lists no model there. */
const LOADER = /loader/i;
const NAME_INPUT = /(^|_)name\d?$/;

/** A catalogue of engines that are shown models of libraries: their lists of model files are not all that they take. */
export function withLibraryModels(catalogue: NodeCatalogue): NodeCatalogue {
  const classes = Object.entries(catalogue).map(([name, nodeClass]): [string, NodeClass] => {
    const inputs = Object.entries(nodeClass.inputs).map(([input, spec]): [string, InputSpec] => [
      input,
      listsModels(name, input, spec) ? { ...spec, libraryModels: true } : spec,
    ]);
    return [name, { ...nodeClass, inputs: Object.fromEntries(inputs) }];
  });
  return Object.fromEntries(classes);
}

function listsModels(className: string, input: string, { type, file, options }: InputSpec): boolean {
  if (type !== 'COMBO' || file !== undefined || options === undefined) return false;
  return (
    (LOADER.test(className) && NAME_INPUT.test(input)) ||
    options.some((option) => typeof option === 'string' && isModelFile(option))
  );
}

/** The files of weights that the inputs of a catalogue list: what its engine has by itself. */
export function listedModels(catalogue: NodeCatalogue): Set<string> {
  const options = Object.values(catalogue).flatMap(({ inputs }) =>
    Object.values(inputs).flatMap((spec) => spec.options ?? []),
  );
  return new Set(options.filter((option) => typeof option === 'string').filter(isModelFile));
}
