/** Objects as the stand-in keeps them: of the API's own shapes, as far as it looks into them. */
export interface Meta {
  name: string;
  uid: string;
  generation: number;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  ownerReferences: { name: string; uid: string; kind: string }[];
  creationTimestamp: string;
  deletionTimestamp?: string;
}

export interface ContainerSpec {
  name: string;
  image?: string;
  env?: { name: string; value?: string }[];
  resources?: { limits?: Record<string, string | number> };
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string> };
  spec: { nodeSelector?: Record<string, string>; containers: ContainerSpec[]; initContainers?: ContainerSpec[] };
}

export interface DeploymentSpec {
  replicas: number;
  selector: { matchLabels: Record<string, string> };
  template: PodTemplate;
}

export interface StoredDeployment {
  apiVersion: 'apps/v1';
  kind: 'Deployment';
  metadata: Meta;
  spec: DeploymentSpec;
  status: { conditions: { type: string; status: string; message: string }[] };
}

export interface StoredPod {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: Meta;
  spec: PodTemplate['spec'] & { nodeName?: string };
  status: {
    phase: string;
    reason?: string;
    conditions: { type: string; status: string; message?: string; lastTransitionTime?: string }[];
    initContainerStatuses?: { name: string; state: object }[];
    containerStatuses: { name: string; state: object; lastState?: object }[];
  };
}

/** @returns whether an object has all of these labels. */
export function hasLabels({ labels }: Pick<Meta, 'labels'>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
