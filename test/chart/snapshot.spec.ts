import { Document, visit } from 'yaml';
import { CI_SETS, render, type Manifest } from './support/helm';

/** Characters up to which a map or a list stands on one line. */
const LINE = 120;

/**
 * A manifest for reading: without the labels that all have, what is random, and files of rules and dashboards, which
 * have tests of their own.
 */
function readable(manifest: Manifest): string {
  const { labels: _labels, ...metadata } = manifest.metadata;
  const shown: Manifest = { ...manifest, metadata };
  for (const field of ['data', 'stringData']) {
    if (shown[field] !== undefined) shown[field] = Object.keys(shown[field] as object);
  }
  if (shown.kind === 'PrometheusRule') {
    shown.spec = (shown.spec as { groups: { name: string }[] }).groups.map(({ name }) => name);
  }
  const document = new Document(shown);
  visit(document, {
    Collection: (_key, node) => {
      if (JSON.stringify(node.toJS(document)).length < LINE) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 140, flowCollectionPadding: false });
}

describe('the chart', () => {
  it.each(CI_SETS)('renders what was last read and agreed with the values of %s', async (set) => {
    const text = (await render(set)).map(readable).join('---\n');
    expect(text).not.toMatch(/\bundefined\b|\bnull\b|<no value>/);
    expect(text).toMatchSnapshot();
  });
});
