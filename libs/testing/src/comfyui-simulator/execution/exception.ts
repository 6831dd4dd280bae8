import { memoryTips, NodeRaised } from '../nodes/node-class';
import type { SimulatedVersion } from '../version';

const TRACEBACK = [
  '  File "/srv/comfyui/execution.py", line 496, in execute\n    output_data = await get_output_data(inputs)\n',
  '  File "/srv/comfyui/custom_nodes/test_pack/__init__.py", line 84, in run\n    raise kind(message)\n',
];

/** What a node raised, in the fields of `execution_error`. */
export function describeException(
  error: unknown,
  version: SimulatedVersion,
): { exception_message: string; exception_type: string; traceback: string[] } {
  const message = messageOf(error);
  const raises = error instanceof NodeRaised ? error.raises : 'RuntimeError';
  const tips = memoryTips(raises, message, version !== '0.3.64');
  return { exception_message: `${message}\n${tips}`, exception_type: raises, traceback: TRACEBACK };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
