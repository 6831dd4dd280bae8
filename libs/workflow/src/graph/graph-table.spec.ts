import fc from 'fast-check';
import { member, parseJson, type JsonNode } from '../json';
import { columnsOf, graphOfRow, rowAt, rowCount, templateOf, textOfRow, type Combination } from './graph-table';
import { parseWorkflow, workflowOf, type WorkflowGraph } from './workflow';

const GRAPH =
  '{"3": {"class_type":"A", "inputs": {"seed": 18446744073709551615, "text" : "a \\u00e9", "from": ["6.x", 0]}}, ' +
  '"6.x":{"inputs":{"steps.n":1.0},"class_type":"B"} }';

/** A graph and a table in one document. */
function read(table: string, graph = GRAPH): { graph: WorkflowGraph; table: JsonNode } {
  const text = `{"table": ${table}, "workflow": ${graph}}`;
  const body = parseJson(text);
  return {
    graph: workflowOf(member(body, 'workflow') as JsonNode, text),
    table: member(body, 'table') as JsonNode,
  };
}

const shapeOf = (graph: WorkflowGraph): unknown =>
  [...graph.nodes].map(([id, { classType, inputs }]) => [
    id,
    classType,
    [...inputs].map(([name, value]) => [name, value.kind]),
  ]);

describe('a table of values', () => {
  it('makes of each row the graph with its values, and leaves every other character as it was', () => {
    const value = fc.constantFrom('1', '-0.50', '18446744073709551614', '"\\u00e9"', 'null', '["3", 0]', '{"a": [1]}');
    const list = fc.array(value, { minLength: 1, maxLength: 4 });
    const names = fc.subarray(['3.seed', '6.x.steps.n', '3.from', '3.text'], { minLength: 1 });
    fc.assert(
      fc.property(names, fc.array(list, { minLength: 4, maxLength: 4 }), (chosen, lists) => {
        const table = `{${chosen.map((name, at) => `"${name}": [${(lists[at] ?? []).join(' ,')}]`).join()}}`;
        const { graph, table: parsed } = read(table);
        const { columns, faults } = columnsOf(graph, parsed);
        expect(faults).toEqual([]);
        const template = templateOf(graph, columns);
        const seen = new Set<string>();
        for (let row = 0; row < (rowCount(columns, 'cross') ?? 0); row += 1) {
          const at = rowAt(columns, 'cross', row);
          seen.add(at.join());
          let expected = GRAPH;
          const puts: Record<string, string> = {
            '3.seed': '18446744073709551615',
            '3.text': '"a \\u00e9"',
            '3.from': '["6.x", 0]',
            '6.x.steps.n': '1.0',
          };
          // From the end, so that no value that was put is found in the place of another.
          for (const name of ['6.x.steps.n', '3.from', '3.text', '3.seed']) {
            const column = chosen.indexOf(name);
            if (column === -1) continue;
            const old = puts[name] ?? '';
            const place = expected.lastIndexOf(old, GRAPH.indexOf(old));
            const put = lists[column]?.[at[column] ?? 0] ?? '';
            expected = expected.slice(0, place) + put + expected.slice(place + old.length);
          }
          const text = textOfRow(template, at);
          expect(text).toBe(expected);
          expect(shapeOf(graphOfRow(graph, columns, at))).toEqual(shapeOf(parseWorkflow(text)));
        }
        expect(seen.size).toBe(rowCount(columns, 'cross'));
      }),
    );
  });

  it('zips lists of one length, and no others', () => {
    const { graph, table } = read('{"3.seed": [1, 2], "3.text": ["a", "b"]}');
    const { columns } = columnsOf(graph, table);
    expect([rowCount(columns, 'zip'), rowCount(columns, 'cross')]).toEqual([2, 4]);
    const rows = (combination: Combination, count: number): number[][] =>
      Array.from({ length: count }, (_, row) => rowAt(columns, combination, row));
    expect(rows('zip', 2)).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(rows('cross', 4)).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
    const uneven = read('{"3.seed": [1, 2], "3.text": ["a"]}');
    expect(rowCount(columnsOf(uneven.graph, uneven.table).columns, 'zip')).toBeNull();
  });

  it.each(['{"9.seed": [1]}', '{"3.cfg": [1]}', '{"seed": [1]}', '{"3.seed": 1}', '{"3.seed": []}'])(
    'has a fault in %s',
    (table) => {
      const read_ = read(table);
      const { columns, faults } = columnsOf(read_.graph, read_.table);
      expect([columns.length, faults.length]).toEqual([0, 1]);
    },
  );

  /** A map that counts how often it is asked. */
  class Counted<V> extends Map<string, V> {
    asked = 0;
    override get(key: string): V | undefined {
      this.asked += 1;
      return super.get(key);
    }
  }

  it('has a fault where a name is longer than an id and the name of an input may be, and does not look for it', () => {
    const dots = '.'.repeat(16_000);
    const { graph, table } = read(`{"${dots}a": [1], "3.${'s'.repeat(512)}": [1]}`);
    const nodes = new Counted(graph.nodes);
    const { columns, faults } = columnsOf({ ...graph, nodes }, table);
    expect([columns.length, faults.length, nodes.asked]).toEqual([0, 2, 0]);
    expect(faults[0]?.reason).toBe('is longer than the id of a node and the name of an input may be: 513 characters');
  });

  it('takes the longest names that there may be, and looks at no more of a name than an id may have', () => {
    const [id, input] = ['.'.repeat(256), 'i'.repeat(256)];
    const text = `{"${id}": {"class_type": "A", "inputs": {"${input}": 1}}}`;
    const { graph, table } = read(`{"${id}.${input}": [2], "${'.'.repeat(513)}": [2]}`, text);
    const nodes = new Counted(graph.nodes);
    const { columns, faults } = columnsOf({ ...graph, nodes }, table);
    expect(columns).toMatchObject([{ nodeId: id, inputName: input }]);
    expect(faults).toHaveLength(1);
    expect(nodes.asked).toBeLessThanOrEqual(2 * 257);
  });

  it('copies the inputs of a node once for each row, however many of them change', () => {
    const names = Array.from({ length: 100 }, (_, at) => `x${at}`);
    const inputs = names.map((name) => `"${name}": 0`).join();
    const other = '{"class_type": "B", "inputs": {"y": 0}}';
    const { graph, table } = read(
      `{${names.map((name) => `"1.${name}": [1, 2]`).join()}}`,
      `{"1": {"class_type": "A", "inputs": {${inputs}, "left": 7}}, "2": ${other}}`,
    );
    const { columns } = columnsOf(graph, table);
    // A map is copied by its iterator.
    const copied = jest.spyOn(Map.prototype, Symbol.iterator);
    const rows = [0, 1].map((row) => graphOfRow(graph, columns, rowAt(columns, 'zip', row)));
    const sizes = copied.mock.contexts.map((map) => (map as Map<string, unknown>).size);
    copied.mockRestore();
    expect(sizes.filter((size) => size > 2)).toEqual([101, 101]);
    const valuesOf = (of: WorkflowGraph): unknown[] =>
      [...(of.nodes.get('1')?.inputs.values() ?? [])].map((value) => (value.kind === 'number' ? value.raw : null));
    expect(rows.map(valuesOf)).toEqual(['1', '2'].map((raw) => [...names.map(() => raw), '7']));
    expect(valuesOf(graph)).toEqual([...names.map(() => '0'), '7']);
  });
});
