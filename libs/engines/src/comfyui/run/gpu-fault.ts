import type { NodeError } from '../protocol';

/**
 * What a node's error says of memory and GPU. `gpu_memory`, `machine_memory`: there was too little for the node; ComfyUI goes on.
 * `gpu_assertion`: code on the GPU refused what it was given. `gpu_broken`: it crashed, or the GPU did. After these two every
 * further call from that process fails.
 */
export type GpuFault = 'gpu_memory' | 'machine_memory' | 'gpu_assertion' | 'gpu_broken';

const MACHINE_MEMORY = /DefaultCPUAllocator: (?:can't allocate|not enough) memory/;
const GPU_MEMORY = /^(?:CUDA|HIP) error: out of memory|\bCU(?:BLAS|DNN)_STATUS_ALLOC_FAILED\b/;
const ASSERTION = /^(?:CUDA|HIP) error: device-side assert triggered/;
/** The errors after which, says the CUDA runtime's reference, the process has to be ended and started again. */
const BROKEN = new RegExp(
  `^(?:CUDA|HIP) error: (?:${[
    'an illegal memory access was encountered',
    'an illegal instruction was encountered',
    'hardware stack error',
    'invalid program counter',
    'misaligned address',
    'operation not supported on global/shared address space',
    'the launch timed out and was terminated',
    'uncorrectable ECC error encountered',
    'uncorrectable NVLink error detected during the execution',
    'unspecified launch failure',
  ].join('|')})`,
);

/** The fault behind an error; null where it is the node's own affair. */
export function gpuFaultOf({ exceptionType, message }: NodeError): GpuFault | null {
  if (/(?:^|\.)OutOfMemoryError$/.test(exceptionType)) return 'gpu_memory';
  if (/(?:^|\.)_?(?:Array)?MemoryError$/.test(exceptionType)) return 'machine_memory';
  // PyTorch before 2.8 has no type of its own for errors of the driver.
  if (!/(?:^|\.)(?:AcceleratorError|RuntimeError)$/.test(exceptionType)) return null;
  if (MACHINE_MEMORY.test(message)) return 'machine_memory';
  if (GPU_MEMORY.test(message)) return 'gpu_memory';
  if (ASSERTION.test(message)) return 'gpu_assertion';
  return BROKEN.test(message) ? 'gpu_broken' : null;
}

/** The process that met the fault can use its GPU no more: it has to be replaced. */
export function endsProcess(fault: GpuFault | null): boolean {
  return fault === 'gpu_assertion' || fault === 'gpu_broken';
}

/** What the owner of a job can do about a lack of memory, in place of PyTorch's words for its developers. */
export function memoryAdvice(fault: 'gpu_memory' | 'machine_memory', message: string): string {
  const asked = /[Tt]ried to allocate ([\d.]+ (?:[KMGT]iB|bytes))/.exec(message)?.[1];
  const where = fault === 'gpu_memory' ? 'GPU' : 'machine';
  const wanted = asked === undefined ? '' : ` It asked for another ${asked}.`;
  return `This node needs more memory than the ${where} has.${wanted} Use smaller pictures, smaller batches or fewer frames.`;
}
