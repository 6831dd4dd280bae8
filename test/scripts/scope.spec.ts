import { Failure } from '../../scripts/lib/command/failure.mjs';
import { Scope } from '../../scripts/lib/command/scope.mjs';

describe('work in a scope of its own', () => {
  it('leaves nothing behind, whether it ends well or not', async () => {
    const scope = new Scope();
    const undone: string[] = [];
    const done = await scope.within(async (own) => {
      own.defer(() => void undone.push('well'));
      return 'done';
    });
    const failed = scope.within(async (own) => {
      own.defer(() => void undone.push('badly'));
      throw new Failure('The work failed.');
    });
    await expect(failed).rejects.toThrow('The work failed.');
    expect([done, undone]).toEqual(['done', ['well', 'badly']]);
    expect(await scope.close()).toEqual([]);
    expect(undone).toEqual(['well', 'badly']);
  });

  it('learns that the command should end, and that it should hurry', async () => {
    const scope = new Scope();
    const received: unknown[] = [];
    const work = scope.within(async (own) => {
      own.signal.addEventListener('abort', () => received.push(own.signal.reason));
      own.hurry.addEventListener('abort', () => received.push('hurry'));
      scope.end(new Failure('Enough.'));
      scope.endNow();
      own.check();
    });
    await expect(work).rejects.toThrow('Enough.');
    expect(received).toEqual([new Failure('Enough.'), 'hurry']);
  });

  it('is not begun when the command should end already', async () => {
    const scope = new Scope();
    scope.end(new Failure('Enough.'));
    const begun = jest.fn();
    await expect(scope.within(begun)).rejects.toThrow('Enough.');
    expect(begun).not.toHaveBeenCalled();
  });
});
