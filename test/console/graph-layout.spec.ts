import { readGraph } from '../../apps/console/src/graph';
import {
  LEAST_SCALE,
  drawCards,
  drawTitles,
  fits,
  titlesIn,
  viewOf,
  type Drawing,
} from '../../apps/console/src/graph/layout';

const DESK = { width: 990, height: 448 };
const PHONE = { width: 334, height: 352 };

/** A chain of so many nodes, each with three loaders that lead into it. */
function graphOf(links: number) {
  const nodes = Array.from({ length: links }, (_, at) => [
    ...[0, 1, 2].map((side) => [`${at}-${side}`, { class_type: 'Load', inputs: { name: 'a', size: 1 } }]),
    [
      `${at}`,
      { class_type: 'Step', inputs: { a: [`${at}-0`, 0], b: [`${at}-1`, 0], c: [`${at}-2`, 0], d: [`${at - 1}`, 0] } },
    ],
  ]);
  const graph = readGraph(JSON.stringify(Object.fromEntries(nodes.flat() as [string, unknown][])));
  if (!('nodes' in graph)) throw new Error(graph.fault);
  return graph.nodes;
}

const inReadingOrder = ({ placed }: Drawing) => placed.toSorted((a, b) => a.y - b.y || a.x - b.x);
const overlaps = ({ placed }: Drawing) =>
  placed.filter((a, at) =>
    placed.some(
      (b, other) =>
        other > at && a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
    ),
  );

describe('a graph in its box', () => {
  it('shows cards with their values where all of them can be read', () => {
    const cards = drawCards(graphOf(1), 'LR');
    expect(fits(cards, DESK)).toBe(true);
    expect(overlaps(cards)).toEqual([]);
    const view = viewOf(cards, DESK);
    expect(view).toMatchObject({ zoom: 1.1, whole: true });
    expect(view.x * 2 + cards.width * view.zoom).toBeCloseTo(DESK.width);
    expect(view.y * 2 + cards.height * view.zoom).toBeCloseTo(DESK.height);
  });

  it.each([
    ['a desk', DESK],
    ['a phone', PHONE],
  ])('of 60 nodes has titles that can be read, in lines as wide as the box, on %s', (_, box) => {
    const nodes = graphOf(15);
    expect(fits(drawCards(nodes, 'LR'), box)).toBe(false);
    const titles = drawTitles(nodes, titlesIn(box));
    expect(titles.placed).toHaveLength(60);
    expect(overlaps(titles)).toEqual([]);
    expect(titles.width * LEAST_SCALE).toBeLessThanOrEqual(box.width);
    const view = viewOf(titles, box);
    expect(view).toMatchObject({ zoom: LEAST_SCALE, whole: false });
    // It begins with the data, not with the middle of the graph.
    const first = titles.placed.filter(({ y }) => y * view.zoom + view.y < box.height).map(({ node }) => node.id);
    expect(first).toContain('0-0');
    expect(first).not.toContain('14');
    const last = viewOf(
      titles,
      box,
      titles.placed.find(({ node }) => node.id === '14'),
    );
    expect(last.y).toBeCloseTo(box.height - 16 - titles.height * LEAST_SCALE);
  });

  it('goes on in the next line as text does, and puts many nodes of one rank side by side', () => {
    const chain = graphOf(6).filter(({ classType }) => classType === 'Step');
    const lines = drawTitles(chain, { columns: 4, rows: 8 });
    expect(inReadingOrder(lines).map(({ node }) => node.id)).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(new Set(lines.placed.map(({ y }) => y)).size).toBe(2);
    const loaders = graphOf(4).filter(({ classType }) => classType === 'Load');
    const wide = drawTitles(loaders, { columns: 8, rows: 3 });
    expect(new Set(wide.placed.map(({ x }) => x)).size).toBe(4);
    expect(overlaps(wide)).toEqual([]);
  });

  it('of no nodes has nothing to show', () => {
    expect(viewOf(drawTitles([], titlesIn({ width: 0, height: 0 })), DESK)).toMatchObject({ whole: true });
  });
});
