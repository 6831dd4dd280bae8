import { diskFaultOf } from './disk-fault';

describe('an error', () => {
  it.each([
    [{ code: 'ENOSPC' }, 'the disk of its worker is full (ENOSPC)'],
    [{ code: 'EDQUOT' }, 'the disk of its worker is full (EDQUOT)'],
    [{ code: 'EIO' }, 'the disk of its worker failed (EIO)'],
    [{ code: 'ENOTDIR', syscall: 'mkdir' }, 'the disk of its worker failed (ENOTDIR)'],
    [{ code: 'ENOTDIR', syscall: 'open' }, null],
    [{ code: 'ECONNREFUSED' }, null],
    [{}, null],
    [null, null],
  ])('%j says of the disk: %j', (facts, sentence) => {
    expect(diskFaultOf(facts && Object.assign(new Error('no'), facts))).toBe(sentence);
  });
});
