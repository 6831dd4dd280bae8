import type { InputSpec, NodeCatalogue, NodeClass, RunLimits } from '@millrace/contracts';
import { isLinkedPath, linkOf, type GraphNode, type JsonNode, type WorkflowGraph } from '@millrace/workflow';
import { nodeFolder, prefixBase, runFolder } from '../files';
import { SALT_INPUT, type SaltedNode } from './cache-salt';
import { InputRefusal, postedValue } from './graph-input';
import { refusal } from './graph-refusal';
import { LentModels } from './lent-models';

export interface GraphToSanitise {
  /** The submitted graph, API format. */
  graph: WorkflowGraph;
  catalogue: NodeCatalogue;
  runId: string;
  cacheScope: string;
  /** Names of the run's input files on the server, by their names in the graph. */
  staged: ReadonlyMap<string, string>;
  /** Models that were lent to the run, by name, with what distinguishes their contents. */
  models?: ReadonlyMap<string, string>;
  /** Classes seen to report although they are no output nodes. */
  reportingClasses: ReadonlySet<string>;
  limits: Pick<RunLimits, 'maxNodes' | 'maxDepth'>;
}

/** Savers that join their prefix to a folder without making the folders in it. */
const FLAT_PREFIX_CLASSES = new Set(['LossGraphNode']);

/** What a preview becomes, so that its file is in the run's own folder and bears no other run's cached name. */
const PREVIEW = { classType: 'PreviewImage', saver: 'SaveImage' } as const;

/** Checks the nodes of one graph, and writes each as it is posted. */
export class NodeSanitiser {
  readonly saveFolders = new Map<string, string>();
  private readonly depths = new Map<string, number>();
  private readonly ordinals = new Map<string, number>();
  private readonly lentModels: LentModels;

  constructor(
    private readonly work: GraphToSanitise,
    private readonly needed: ReadonlySet<string>,
  ) {
    this.lentModels = new LentModels(work.models ?? new Map());
    for (const id of work.graph.nodes.keys()) if (needed.has(id)) this.ordinals.set(id, this.ordinals.size + 1);
  }

  needs(id: string): boolean {
    return this.needed.has(id);
  }

  classOf(node: GraphNode): NodeClass {
    const { catalogue } = this.work;
    const nodeClass = Object.hasOwn(catalogue, node.classType) ? catalogue[node.classType] : undefined;
    if (nodeClass) return nodeClass;
    // It was there when the graph was submitted.
    throw refusal(`No node class ${JSON.stringify(node.classType)} is installed here.`, node, 'engine_error');
  }

  /** Checks a node's links, and says what its salt depends on. To be called in topological order. */
  saltedNode(id: string): SaltedNode {
    const node = this.work.graph.nodes.get(id);
    if (!node) throw new Error(`${id} is not a node of the graph.`);
    const nodeClass = this.classOf(node);
    const ancestors = this.linkedNodes(node, nodeClass);
    const depth = 1 + Math.max(0, ...ancestors.map((ancestor) => this.depths.get(ancestor) ?? 0));
    if (depth > this.work.limits.maxDepth) {
      throw refusal(`The workflow chains more than ${this.work.limits.maxDepth} nodes. Split it.`, node);
    }
    this.depths.set(id, depth);
    const everyRun = nodeClass.outputNode || this.work.reportingClasses.has(node.classType);
    const isUnique = this.savesUnder(node, nodeClass) !== null;
    return { nodeClass, ancestors, everyRun, isUnique, lent: this.lentModels.mayLoad(node, nodeClass) };
  }

  /** The node's text as it is posted. */
  post(node: GraphNode, salt: string | undefined): string {
    const nodeClass = this.classOf(node);
    const prefixInput = this.savesUnder(node, nodeClass);
    const inputs: string[] = [];
    for (const [name, value] of node.inputs) {
      const spec = Object.hasOwn(nodeClass.inputs, name) ? nodeClass.inputs[name] : undefined;
      if (name === prefixInput || name === SALT_INPUT || (!spec && !nodeClass.acceptsUnknownInputs)) continue;
      inputs.push(`${JSON.stringify(name)}:${this.value(node, name, value, spec)}`);
    }
    if (prefixInput !== null)
      inputs.push(`${JSON.stringify(prefixInput)}:${JSON.stringify(this.prefix(node, prefixInput))}`);
    if (salt !== undefined) inputs.push(`"${SALT_INPUT}":${JSON.stringify(salt)}`);
    const classType = this.isReplaced(node) ? PREVIEW.saver : node.classType;
    return `{"class_type":${JSON.stringify(classType)},"inputs":{${inputs.join(',')}}}`;
  }

  private value(node: GraphNode, name: string, value: JsonNode, spec: InputSpec | undefined): string {
    try {
      return postedValue(name, value, spec, this.work.staged, this.work.graph.text);
    } catch (error) {
      if (!(error instanceof InputRefusal)) throw error;
      const code = error.missingFile ? 'input_unavailable' : undefined;
      throw refusal(`Node ${node.id} (${node.classType}): input ${error.message}`, node, code);
    }
  }

  private linkedNodes(node: GraphNode, nodeClass: NodeClass): string[] {
    const ancestors: string[] = [];
    for (const [name, value] of node.inputs) {
      const link = linkOf(value);
      const spec = Object.hasOwn(nodeClass.inputs, name) ? nodeClass.inputs[name] : undefined;
      if (!link || !(nodeClass.acceptsUnknownInputs || spec)) continue;
      const source = this.work.graph.nodes.get(link.nodeId);
      if (!source) throw refusal(`Input ${name} links to node ${link.nodeId}, which is not in the workflow.`, node);
      const slots = this.classOf(source).outputs.length;
      if (link.slot >= slots) {
        throw refusal(`Input ${name} links to output ${link.slot} of node ${link.nodeId}, which has ${slots}.`, node);
      }
      this.refusePathByLink(node, name, spec, this.classOf(source).outputs[link.slot]?.type);
      ancestors.push(link.nodeId);
    }
    return ancestors;
  }

  private refusePathByLink(node: GraphNode, name: string, spec: InputSpec | undefined, type: string | undefined): void {
    if (type === undefined || !isLinkedPath(node.classType, name, spec, type)) return;
    throw refusal(`Input ${name} is a path, which must stand in the workflow: it takes no linked text.`, node);
  }

  private isReplaced(node: GraphNode): boolean {
    return node.classType === PREVIEW.classType && Object.hasOwn(this.work.catalogue, PREVIEW.saver);
  }

  /** The input that says where a node saves, or null for one that does not. */
  private savesUnder(node: GraphNode, nodeClass: NodeClass): string | null {
    if (this.isReplaced(node) || Object.hasOwn(nodeClass.inputs, 'filename_prefix')) return 'filename_prefix';
    return nodeClass.outputNode && nodeClass.inputs['prefix']?.type === 'STRING' ? 'prefix' : null;
  }

  private prefix(node: GraphNode, input: string): string {
    const submitted = node.inputs.get(input);
    const base = prefixBase(submitted?.kind === 'string' ? submitted.value : '');
    const ordinal = this.ordinals.get(node.id) ?? 0;
    if (FLAT_PREFIX_CLASSES.has(node.classType))
      return `${runFolder(this.work.runId).replace('/', '_')}_${ordinal}_${base}`;
    const folder = nodeFolder(this.work.runId, ordinal);
    this.saveFolders.set(folder, node.id);
    return `${folder}/${base}`;
  }
}
