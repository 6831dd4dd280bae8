import fc from 'fast-check';
import { stronglyConnected } from './strongly-connected';

describe('strongly connected groups', () => {
  it('hold together exactly the nodes that reach one another', () => {
    const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 20 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const ids = [...'01234567'];
        const targets = (id: string): string[] =>
          pairs.filter(([from]) => String(from) === id).map(([, to]) => String(to));
        const reach = (from: string): Set<string> => {
          const reached = new Set([from]);
          for (const id of reached) for (const target of targets(id)) reached.add(target);
          return reached;
        };
        const groups = stronglyConnected(ids, targets);
        expect(groups.flat().sort()).toEqual(ids);
        const groupOf = (id: string): number => groups.findIndex((group) => group.includes(id));
        for (const a of ids) {
          for (const b of reach(a)) {
            expect(groupOf(a) === groupOf(b)).toBe(reach(b).has(a));
            expect(groupOf(b)).toBeLessThanOrEqual(groupOf(a));
          }
        }
      }),
    );
  });
});
