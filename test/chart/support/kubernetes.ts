import { join } from 'node:path';
import ts from 'typescript';
import { ROOT, type Manifest } from './helm';

/** Who describes the kinds of a group that Kubernetes itself does not have. */
const PACKAGES: Record<string, string> = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api/gateway.networking.k8s.io',
  'keda.sh': '@kubernetes-models/keda/keda.sh',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/monitoring.coreos.com',
};

interface Model {
  validate(): void;
}
type ModelClass = new (data: Manifest) => Model;

/** The module that describes a manifest's kind. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (group === '') return `kubernetes-models/${version}/${kind}`;
  return `${PACKAGES[group] ?? `kubernetes-models/${group}`}/${version}/${kind}`;
}

/** What the schema of a manifest's kind says against it: types, patterns, required fields. */
export function schemaFaults(manifest: Manifest): string[] {
  const model = jest.requireActual<Record<string, ModelClass>>(moduleOf(manifest))[manifest.kind];
  if (model === undefined) return [`${manifest.kind} is not known`];
  try {
    new model(manifest).validate();
    return [];
  } catch (error) {
    return [`${nameOf(manifest)}: ${(error as Error).message}`];
  }
}

/**
 * Fields that no kind has: the schemas are open, but the compiler refuses a field that a literal's type lacks. All
 * manifests are written as literals of their types and compiled at once.
 */
export function fieldFaults(manifests: Manifest[]): string[] {
  const file = join(ROOT, 'test', 'chart', 'manifests.generated.ts');
  const source = manifests.map(literalOf).join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    lib: ['lib.es5.d.ts'],
    skipLibCheck: true,
    strict: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) =>
    name === file ? ts.createSourceFile(name, source, languageVersion) : read(name, languageVersion);
  const program = ts.createProgram([file], options, host);
  const [generated] = program.getSourceFiles().filter(({ fileName }) => fileName === file);
  return program.getSemanticDiagnostics(generated).map(({ start = 0, messageText }) => {
    const line = source.slice(0, start).split('\n').length;
    return `${lineOf(source, line)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function literalOf(manifest: Manifest, index: number): string {
  const type = `import(${JSON.stringify(moduleOf(manifest))}).I${manifest.kind}`;
  return `export const m${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
}

function lineOf(source: string, line: number): string {
  return (source.split('\n')[line - 1] ?? '').trim();
}

export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
