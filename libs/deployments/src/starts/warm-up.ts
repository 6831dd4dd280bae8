import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { assetReferences, isUiFormat, members, parseWorkflow, sortFaults, validateWorkflow } from '@millrace/workflow';

/** A warm-up loads models and compiles what the first job would wait for: that takes few nodes. */
export const WARM_UP_BYTES = 256 * 1024;

const FIELD = 'warm_up';
/** Faults that a refusal names. */
const NAMED_FAULTS = 3;

/**
 * Check a graph that workers are to run before they are ready, as a submission is checked. It runs for nobody's job, so that it
 * cannot refer to assets. Models that no engine lists may be in the library: only a worker knows.
 *
 * @param text JSON of a graph in API format, as it came with a request: its numbers keep their digits.
 * @param catalogue what the workers can run; null while none has published that: then only the shape is checked.
 * @returns the text, as it is stored.
 * @throws Refusal `invalid_request`, `workflow_format_ui`, `invalid_workflow`.
 */
export function warmUpText(text: string, catalogue: NodeCatalogue | null): string {
  if (Buffer.byteLength(text) > WARM_UP_BYTES) {
    throw Refusal.ofFields([{ field: FIELD, reason: `must be at most ${WARM_UP_BYTES} bytes of JSON` }]);
  }
  const parsed = parseWorkflow(text);
  if (isUiFormat(parsed.root)) {
    throw new Refusal('workflow_format_ui', `${FIELD} is a graph as the editor saves it. Export it in API format.`);
  }
  const [reference] = assetReferences(parsed).references;
  if (reference !== undefined) {
    const reason = `node ${reference.nodeId} refers to an asset; a warm-up runs without assets`;
    throw Refusal.ofFields([{ field: FIELD, reason }]);
  }
  const { size } = members(parsed.root);
  if (size === 0 || parsed.nodes.size < size) {
    throw Refusal.ofFields([
      { field: FIELD, reason: 'must map ids to nodes with class_type and inputs, at least one' },
    ]);
  }
  if (catalogue !== null) assertRunnable(parsed, catalogue);
  return text;
}

function assertRunnable(graph: ReturnType<typeof parseWorkflow>, catalogue: NodeCatalogue): void {
  const { faults } = sortFaults(validateWorkflow(graph, catalogue, { assetsOnly: true }), graph, catalogue);
  const messages = Object.entries(faults).flatMap(([nodeId, errors]) =>
    errors.map(({ message }) => (nodeId === '' ? message : `Node ${nodeId}: ${message}`)),
  );
  if (messages.length === 0) return;
  throw new Refusal('invalid_workflow', `${FIELD} cannot be run. ${messages.slice(0, NAMED_FAULTS).join(' ')}`, {
    details: { node_errors: faults },
  });
}
