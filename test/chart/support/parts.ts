import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { Pod } from 'kubernetes-models/v1/Pod';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { Manifest } from './helm';

/** A pod as some object of the chart makes it. */
export interface PodOf {
  name: string;
  component: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: IPodSpec;
}

/** Every pod that objects of any kind make. */
export function podsOf(manifests: Manifest[]): PodOf[] {
  return manifests.flatMap((manifest) => {
    const pod = templateOf(manifest);
    if (pod?.spec === undefined) return [];
    const labels = pod.metadata?.labels ?? {};
    const annotations = pod.metadata?.annotations ?? {};
    const component = labels['app.kubernetes.io/component'] ?? '';
    return [{ name: manifest.metadata.name, component, labels, annotations, spec: pod.spec }];
  });
}

function templateOf(manifest: Manifest): Pick<Pod, 'metadata' | 'spec'> | undefined {
  if (Pod.is(manifest)) return manifest;
  if (Deployment.is(manifest) || StatefulSet.is(manifest) || Job.is(manifest)) return manifest.spec?.template;
  return undefined;
}

export function podOf(manifests: Manifest[], name: string): PodOf {
  const found = podsOf(manifests).find((pod) => pod.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

/** A container of a pod, sidecars included. */
export function containerOf({ spec }: PodOf, name: string): IContainer {
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
  if (found === undefined) throw new Error(`there is no container ${name}`);
  return found;
}

/** Values of a container's variables; those from a Secret as `<secret>/<key>`. */
export function envOf(container: IContainer): Record<string, string> {
  return Object.fromEntries(
    (container.env ?? []).map(({ name, value, valueFrom }) => {
      const ref = valueFrom?.secretKeyRef;
      return [name, ref === undefined ? (value ?? '') : `${ref.name}/${ref.key}`];
    }),
  );
}

export function policiesOf(manifests: Manifest[]): NetworkPolicy[] {
  return manifests.filter((manifest) => NetworkPolicy.is(manifest)).map((policy) => new NetworkPolicy(policy));
}
