import { diskFaultOf, diskFaultOfNode } from './disk-fault';

describe('an error', () => {
  it.each([
    [{ code: 'ENOSPC' }, 'the disk of its worker is full (ENOSPC)'],
    [{ code: 'EDQUOT' }, 'the disk of its worker is full (EDQUOT)'],
    [{ code: 'EIO' }, 'the disk of its worker failed (EIO)'],
    [{ code: 'ENOTDIR', syscall: 'mkdir' }, 'the disk of its worker failed (ENOTDIR)'],
    [{ code: 'ENOTDIR', syscall: 'open' }, null],
    [{ code: 'ECONNREFUSED' }, null],
    [{ cause: { code: 'ENOSPC' } }, 'the disk of its worker is full (ENOSPC)'],
    [{ code: 'ERR_OF_OURS', cause: new Error('no') }, null],
    [{}, null],
    [null, null],
  ])('%j says of the disk: %j', (facts, sentence) => {
    expect(diskFaultOf(facts && Object.assign(new Error('no'), facts))).toBe(sentence);
  });
});

describe('what a node raised', () => {
  it.each([
    ['OSError', '[Errno 28] No space left on device', 'the disk of its worker is full (ENOSPC)'],
    ['OSError', "[Errno 122] Disk quota exceeded: '<comfyui>/a.png'", 'the disk of its worker is full (EDQUOT)'],
    ['OSError', '[Errno 30] Read-only file system', 'the disk of its worker failed (EROFS)'],
    ['OSError', '[Errno 5] Input/output error', 'the disk of its worker failed (EIO)'],
    ['OSError', '[Errno 36] File name too long', null],
    ['OSError', 'broken data stream when reading image file', null],
    ['FileNotFoundError', '[Errno 2] No such file or directory', null],
    ['ValueError', '[Errno 28] No space left on device', null],
    ['av.error.OSError', "[Errno 28] No space left on device: 'a.mp4'", 'the disk of its worker is full (ENOSPC)'],
    ['av.error.OSError', '[Errno 30] Read-only file system', 'the disk of its worker failed (EROFS)'],
    ['av.error.OSError', '[Errno 5] Input/output error', null],
    [
      'safetensors_rust.SafetensorError',
      'Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })',
      'the disk of its worker is full (ENOSPC)',
    ],
    [
      'safetensors_rust.SafetensorError',
      'Error while serializing: I/O error: Disk quota exceeded (os error 122)',
      'the disk of its worker is full (EDQUOT)',
    ],
    ['SafetensorError', 'I/O error: Input/output error (os error 5)', 'the disk of its worker failed (EIO)'],
    ['safetensors_rust.SafetensorError', 'Error while deserializing header: HeaderTooLarge', null],
    ['my.NotAnOSError', '[Errno 28] No space left on device', null],
  ])('%s, %s, says of the disk: %j', (exceptionType, message, sentence) => {
    expect(diskFaultOfNode({ exceptionType, message, nodeId: '1', nodeType: null, traceback: [] })).toBe(sentence);
  });
});
