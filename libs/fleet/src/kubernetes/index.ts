export { readTemplates, serviceAccount } from './access';
export { KUBERNETES_RIGHTS } from './cluster';
export { KubernetesFleet } from './kubernetes.fleet';
