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
/** In the words of PyTorch's own allocator, or of the one over `cudaMallocAsync`. */
const ASKED_FOR = /(?:[Tt]ried to allocate |^Requested +: )([\d.]+ (?:[KMGT]iB|bytes))/m;
const ASSERTION_ADVICE =
  'Code on the GPU refused what this node gave it: an index out of range, for example. The log of the job names the assertion.';
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

/** How C++ says what ended the process: a line after "terminate called after throwing an instance of …". */
const UNCAUGHT = /^\s*what\(\):\s+((?:CUDA|HIP) error: .+)$/;

/**
 * What the driver of the GPU said in a line of the log, where an exception ends the whole process. PyTorch does so where memory is
 * given back after a sticky error (`CUDAMallocAsyncAllocator`, which ComfyUI 0.33.0 works with): no node reports it.
 */
export function driverErrorIn(line: string): string | null {
  return UNCAUGHT.exec(line)?.[1] ?? null;
}

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

/** What the owner of a job can do about a fault, in place of PyTorch's words for its developers. */
export function gpuAdvice(fault: 'gpu_memory' | 'machine_memory' | 'gpu_assertion', message: string): string {
  if (fault === 'gpu_assertion') return ASSERTION_ADVICE;
  const asked = ASKED_FOR.exec(message)?.[1];
  const where = fault === 'gpu_memory' ? 'GPU' : 'machine';
  const wanted = asked === undefined ? '' : ` It asked for another ${asked}.`;
  return `This node needs more memory than the ${where} has.${wanted} Use smaller pictures, smaller batches or fewer frames.`;
}
