import { CI_SETS, CHART, ciFile, helm, render, type Manifest } from './support/helm';
import { fieldFaults, nameOf, schemaFaults } from './support/kubernetes';

const rendered = new Map<string, Manifest[]>();
const of = (set: string): Manifest[] => rendered.get(set) ?? [];

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set));
});

describe('the chart', () => {
  it.each(CI_SETS)('passes lint with the values of %s', async (set) => {
    const { code, stdout } = await helm(['lint', CHART, '--strict', '--values', ciFile(set)]);
    expect(stdout).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  it.each(CI_SETS)('renders objects of the schemas of their kinds with the values of %s', (set) => {
    expect(of(set).length).toBeGreaterThan(10);
    expect(of(set).flatMap(schemaFaults)).toEqual([]);
  });

  it('renders no field that its kind does not have', () => {
    const all = [...rendered.values()].flat();
    expect(fieldFaults(all)).toEqual([]);
    const [first] = all.filter(({ kind }) => kind === 'Deployment');
    const wrong = { ...first, spec: { ...(first?.spec as object), replica: 1 } } as Manifest;
    expect(fieldFaults([wrong]).join()).toContain('replica');
  });

  it.each(CI_SETS)('names no object twice with the values of %s', (set) => {
    const names = of(set).map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(of(set).filter(({ metadata }) => metadata.name.length > 63)).toEqual([]);
  });
});
