/** Objects of the Kubernetes API, as far as the fleet reads or writes them. Names and shapes are those of the API. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

interface Metadata {
  name?: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
}

export interface Container {
  name: string;
  image?: string;
  env?: { name: string; value?: string; valueFrom?: object }[];
  resources?: { limits?: Record<string, string | number>; requests?: Record<string, string | number> };
  terminationMessagePolicy?: string;
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  tolerations?: object[];
  affinity?: object;
  topologySpreadConstraints?: object[];
  runtimeClassName?: string;
  priorityClassName?: string;
  volumes?: { name: string; persistentVolumeClaim?: object }[];
  initContainers?: Container[];
  containers: Container[];
}

export interface DeploymentObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
  spec: {
    replicas?: number;
    selector?: { matchLabels: Record<string, string> };
    template: { metadata?: Metadata; spec: PodSpec };
  };
  status?: { conditions?: Condition[] };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

interface Terminated {
  exitCode: number;
  reason?: string;
  message?: string;
}

export interface ContainerStatus {
  name: string;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: Terminated;
  };
  lastState?: { terminated?: Terminated };
}

export interface PodObject {
  metadata: Metadata;
  spec?: PodSpec;
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

export interface ListOf<T> {
  items: T[];
}
