import { endsProcess, gpuAdvice, gpuFaultOf } from './gpu-fault';

const ACCELERATOR = 'torch.AcceleratorError';

/** As PyTorch 2.11 ends every error of the driver. */
const HELP = '\nCUDA kernel errors might be asynchronously reported at some other API call.';

function faultOf(exceptionType: string, message: string) {
  return gpuFaultOf({ exceptionType, message, nodeId: '1', nodeType: 'KSampler', traceback: [] });
}

describe('the fault behind an error of a node', () => {
  it.each([
    ['torch.OutOfMemoryError', 'CUDA out of memory. Tried to allocate 64.00 GiB.', 'gpu_memory'],
    ['torch.cuda.OutOfMemoryError', 'HIP out of memory. Tried to allocate 2.00 MiB.', 'gpu_memory'],
    [ACCELERATOR, `CUDA error: out of memory${HELP}`, 'gpu_memory'],
    ['RuntimeError', 'CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`', 'gpu_memory'],
    [
      'RuntimeError',
      "[enforce fail at alloc_cpu.cpp:125] err == 0. DefaultCPUAllocator: can't allocate memory",
      'machine_memory',
    ],
    ['MemoryError', '', 'machine_memory'],
    ['numpy._core._exceptions._ArrayMemoryError', 'Unable to allocate 7.45 GiB', 'machine_memory'],
    [ACCELERATOR, `CUDA error: device-side assert triggered${HELP}`, 'gpu_assertion'],
    [ACCELERATOR, `CUDA error: an illegal memory access was encountered${HELP}`, 'gpu_broken'],
    ['RuntimeError', `HIP error: unspecified launch failure${HELP}`, 'gpu_broken'],
    [ACCELERATOR, 'CUDA error: uncorrectable ECC error encountered', 'gpu_broken'],
  ])('%s: %s', (exceptionType, message, fault) => {
    expect(faultOf(exceptionType, message)).toBe(fault);
  });

  it.each([
    ['ValueError', 'CUDA error: an illegal memory access was encountered'],
    ['RuntimeError', 'the text "CUDA error: misaligned address" is not a number'],
    [ACCELERATOR, 'CUDA error: invalid device ordinal'],
    ['RuntimeError', 'mat1 and mat2 shapes cannot be multiplied'],
  ])('is none of a %s: %s', (exceptionType, message) => {
    expect(faultOf(exceptionType, message)).toBeNull();
  });

  it('ends the process where the GPU takes nothing more from it', () => {
    expect([endsProcess('gpu_assertion'), endsProcess('gpu_broken')]).toEqual([true, true]);
    expect([endsProcess('gpu_memory'), endsProcess('machine_memory'), endsProcess(null)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('the advice on a fault', () => {
  it('names what memory lacked, how much was asked for, and the cure', () => {
    expect(gpuAdvice('gpu_memory', 'CUDA out of memory. Tried to allocate 64.00 GiB. GPU 0 has a total …')).toBe(
      'This node needs more memory than the GPU has. It asked for another 64.00 GiB. Use smaller pictures, smaller batches or fewer frames.',
    );
    const async =
      'Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 42.04 GiB\n';
    expect(
      gpuAdvice('gpu_memory', `${async}Requested               : 160.00 GiB\nDevice limit            : …`),
    ).toContain('It asked for another 160.00 GiB.');
    expect(gpuAdvice('machine_memory', '')).toBe(
      'This node needs more memory than the machine has. Use smaller pictures, smaller batches or fewer frames.',
    );
  });

  it('says what an assertion on the GPU is, and where its text stands', () => {
    expect(gpuAdvice('gpu_assertion', 'CUDA error: device-side assert triggered')).toBe(
      'Code on the GPU refused what this node gave it: an index out of range, for example. The log of the job names the assertion.',
    );
  });
});
