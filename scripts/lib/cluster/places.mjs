import { join } from 'node:path';
import { TOOLS } from '../system/index.mjs';

/** What is built once and kept: programs, the base image, the store of images. */
export const CLUSTER = join(TOOLS, 'cluster');
export const PROGRAMS = join(CLUSTER, 'bin');
/** Of the one cluster that runs; removed at its end. */
export const RUN = join(CLUSTER, 'run');

export const KUBERNETES_VERSION = '1.34.4';
export const COREDNS_VERSION = '1.12.4';

/** The bridge of the pods, in a network namespace of its own: none of these addresses is seen outside of it. */
export const BRIDGE = 'mill0';
/** Of this machine as a node, of the API server, of DNS, and of the servers that the release uses. */
export const NODE_ADDRESS = '10.231.0.1';
export const POD_RANGE = '10.231.0.0/24';
export const SERVICE_RANGE = '10.96.0.0/16';
export const NODE_NAME = 'node-1';
export const API_PORT = 6443;

export const ETCD_PORT = 2379;
/** Of the only user, who may do everything: it is an account of a cluster that lives for minutes in a namespace of its own. */
export const ADMIN_TOKEN = 'cluster-admin-of-the-test';

/** Where the control group of all pods is, below each controller. */
export const CGROUP = 'millrace-cluster';
