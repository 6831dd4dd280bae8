import { engineClassOf, readEngineClasses } from './engine-class';

const read = (...classes: object[]) => readEngineClasses(JSON.stringify({ classes }));

describe('a document of engine classes', () => {
  it('needs a name and an engine for each, and has defaults for the rest', () => {
    expect(read({ name: 'cpu', engine: 'cpu' })).toEqual([
      expect.objectContaining({ name: 'cpu', engine: 'cpu', image: null, gpu: null, startSeconds: 120, settings: {} }),
    ]);
    const gpu = { kind: 'nvidia-l40s', count: 2 };
    const large = { name: 'large-gpu', engine: 'comfyui', gpu, memory: '64Gi', nodePacks: ['impact'] };
    expect(read(large)).toEqual([expect.objectContaining(large)]);
  });

  it.each([
    ['text that is no JSON', '{', 'not JSON'],
    ['no classes', '{}', 'classes'],
    ['an unknown field', { name: 'a', engine: 'cpu', colour: 'red' }, 'colour'],
    ['an unknown engine', { name: 'a', engine: 'abacus' }, 'classes.0.engine'],
    ['a name that no object may have', { name: 'A b', engine: 'cpu' }, 'classes.0.name'],
    ['no seconds to start', { name: 'a', engine: 'cpu', startSeconds: 0 }, 'classes.0.startSeconds'],
    ['a memory without a unit that is known', { name: 'a', engine: 'cpu', memory: '16 GB' }, 'classes.0.memory'],
    ['a setting of something else', { name: 'a', engine: 'cpu', settings: { PATH: '/' } }, 'settings.PATH'],
  ])('is refused with %s', (_what, given, said) => {
    const text = typeof given === 'string' ? given : JSON.stringify({ classes: [given] });
    expect(() => readEngineClasses(text)).toThrow(said);
  });

  it('is refused with one name twice', () => {
    expect(() => read({ name: 'a', engine: 'cpu' }, { name: 'a', engine: 'comfyui' })).toThrow('one name');
  });
});

describe('the revision of a class', () => {
  const of = (more: object): string =>
    read({ name: 'a', engine: 'cpu', ...more }).map((spec) => engineClassOf(spec).revision)[0] ?? '';

  it('is another one where its workers are other ones', () => {
    expect(of({ image: 'b' })).not.toBe(of({}));
    expect(of({ settings: { MILLRACE_WORKER_CAPACITY: '2' } })).not.toBe(of({}));
  });

  it('stays where only its price or what people read of it changed', () => {
    expect(of({ title: 'A', description: 'fast', priceMicrosPerSecond: 5, startSeconds: 7 })).toBe(of({}));
  });

  it('does not depend on the order of fields', () => {
    expect(of({ settings: { MILLRACE_B: '1', MILLRACE_A: '2' } })).toBe(
      of({ settings: { MILLRACE_A: '2', MILLRACE_B: '1' } }),
    );
  });
});
