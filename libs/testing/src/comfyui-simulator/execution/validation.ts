import { isLink, type PostedGraph } from '../nodes/graph';
import type { NodeClass } from '../nodes/node-class';

interface Complaint {
  type: string;
  message: string;
  details: string;
  extra_info: Record<string, unknown>;
}

export interface NodeErrors {
  [nodeId: string]: { errors: Complaint[]; dependent_outputs: string[]; class_type: string };
}

/** What becomes of a posted graph: the outputs that will run, and what is wrong with the others. */
export type Validation = { outputs: string[]; nodeErrors: NodeErrors } | { error: Complaint; nodeErrors: NodeErrors };

const NOT_COMPILED: Complaint = {
  type: 'prompt_outputs_failed_validation',
  message: 'Prompt outputs failed validation',
  details: '',
  extra_info: {},
};

/** Validation as ComfyUI does it: each output on its own; one sound output is enough for a 200. */
export function validate(
  graph: PostedGraph,
  classes: Readonly<Record<string, NodeClass>>,
  hasInput: (name: string) => boolean,
  isLater: boolean,
): Validation {
  for (const [id, node] of Object.entries(graph)) {
    if (!classes[node.class_type]) {
      return { error: unknownClass(id, node.class_type, isLater), nodeErrors: {} };
    }
  }
  const outputs = Object.keys(graph).filter((id) => classes[graph[id]?.class_type ?? '']?.outputNode);
  if (outputs.length === 0) {
    const message = 'Prompt has no outputs';
    return { error: { type: 'prompt_no_outputs', message, details: '', extra_info: {} }, nodeErrors: {} };
  }
  const nodeErrors: NodeErrors = {};
  const sound = outputs.filter((id) => new OutputValidation(graph, classes, hasInput, id, nodeErrors).isSound());
  return sound.length > 0 ? { outputs: sound, nodeErrors } : { error: NOT_COMPILED, nodeErrors };
}

function unknownClass(id: string, class_type: string, isLater: boolean): Complaint {
  const details = `Node ID '#${id}'`;
  if (!isLater) {
    const message = `Cannot execute because node ${class_type} does not exist.`;
    return { type: 'invalid_prompt', message, details, extra_info: {} };
  }
  const message = `Node '${class_type}' not found. The custom node may not be installed.`;
  return {
    type: 'missing_node_type',
    message,
    details,
    extra_info: { node_id: id, class_type, node_title: class_type },
  };
}

class OutputValidation {
  private readonly seen = new Set<string>();
  private hasFault = false;

  constructor(
    private readonly graph: PostedGraph,
    private readonly classes: Readonly<Record<string, NodeClass>>,
    private readonly hasInput: (name: string) => boolean,
    private readonly output: string,
    private readonly nodeErrors: NodeErrors,
  ) {}

  isSound(): boolean {
    this.visit(this.output, []);
    return !this.hasFault;
  }

  private visit(id: string, path: string[]): void {
    if (path.includes(id)) {
      // A cycle is refused without a word about where it is.
      this.hasFault = true;
      return;
    }
    if (this.seen.has(id)) return;
    this.seen.add(id);
    const node = this.graph[id];
    const nodeClass = this.classes[node?.class_type ?? ''];
    if (!node || !nodeClass) return;
    for (const [name, spec] of Object.entries({ ...nodeClass.required, ...nodeClass.optional })) {
      const value = node.inputs[name];
      if (value === undefined) {
        if (nodeClass.required?.[name])
          this.complain(id, 'required_input_missing', 'Required input is missing', name, name);
      } else if (isLink(value)) this.follow(id, value[0], [...path, id]);
      else this.check(id, name, spec, value);
    }
    const complaint = nodeClass.validate?.(node.inputs, this.hasInput);
    if (complaint)
      this.complain(id, 'custom_validation_failed', 'Custom validation failed for node', complaint, 'image');
  }

  private follow(id: string, source: string, path: string[]): void {
    if (this.graph[source]) return this.visit(source, path);
    const message = 'Exception when validating node';
    this.complain(id, 'exception_during_validation', message, `'${source}'`, undefined);
  }

  private check(id: string, name: string, spec: string, value: unknown): void {
    if (Array.isArray(value)) {
      const message = 'Bad linked input, must be a length-2 list of [node_id, slot_index]';
      return this.complain(id, 'bad_linked_input', message, name, name);
    }
    const [type, options = {}] = JSON.parse(spec) as [unknown, { min?: number; max?: number; image_upload?: boolean }?];
    if (Array.isArray(type) && !options.image_upload && !type.includes(value)) {
      const details = `${name}: ${JSON.stringify(value)} not in ${JSON.stringify(type)}`;
      return this.complain(id, 'value_not_in_list', 'Value not in list', details, name);
    }
    if (typeof value !== 'number') return;
    if (options.min !== undefined && value < options.min) {
      this.complain(id, 'value_smaller_than_min', `Value ${value} smaller than min of ${options.min}`, name, name);
    }
    if (options.max !== undefined && value > options.max) {
      this.complain(id, 'value_bigger_than_max', `Value ${value} bigger than max of ${options.max}`, name, name);
    }
  }

  private complain(id: string, type: string, message: string, details: string, input: string | undefined): void {
    this.hasFault = true;
    const class_type = this.graph[id]?.class_type ?? '';
    const entry = (this.nodeErrors[id] ??= { errors: [], dependent_outputs: [], class_type });
    if (!entry.dependent_outputs.includes(this.output)) entry.dependent_outputs.push(this.output);
    entry.errors.push({ type, message, details, extra_info: input === undefined ? {} : { input_name: input } });
  }
}
