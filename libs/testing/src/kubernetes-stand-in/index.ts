export { KubernetesStandIn, STAND_IN_NAMESPACE, STAND_IN_TOKEN, type StandInOptions } from './stand-in';
