import { ApiError, type KubernetesApi } from './api';
import type { DeploymentObject, ListOf, OwnerReference, PodObject } from './objects';
import { COST_OF_LEAVING, DELETION_COST } from './victims';

/** Fields that this manager has set are its own: what others change of them is set back. */
const FIELD_MANAGER = 'millrace-fleet';

/** What the fleet needs to be allowed in its namespace, and no more: tests hold its calls and the Role of the chart to it. */
export const KUBERNETES_RIGHTS = [
  { apiGroup: 'apps', resource: 'deployments', verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  { apiGroup: '', resource: 'pods', verbs: ['list', 'patch', 'delete'] },
] as const;

/** Every call that the fleet makes. A server-side apply needs the right to create beside that to patch. */
export class Cluster {
  private readonly deployments: string;
  private readonly pods: string;

  constructor(
    private readonly api: KubernetesApi,
    namespace: string,
    private readonly selector: string,
  ) {
    this.deployments = `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/deployments`;
    this.pods = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  }

  /** The Deployment as an owner of others. */
  async ownerOf(name: string): Promise<OwnerReference> {
    const { metadata } = await this.api.call<DeploymentObject>(
      'GET',
      `${this.deployments}/${encodeURIComponent(name)}`,
    );
    return { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid ?? '' };
  }

  async listDeployments(): Promise<DeploymentObject[]> {
    return (await this.api.call<ListOf<DeploymentObject>>('GET', this.listing(this.deployments))).items;
  }

  async listPods(): Promise<PodObject[]> {
    return (await this.api.call<ListOf<PodObject>>('GET', this.listing(this.pods))).items;
  }

  /** Make it so, or make it (server-side apply). */
  async apply(deployment: DeploymentObject): Promise<DeploymentObject> {
    const path = `${this.deployments}/${deployment.metadata.name}?fieldManager=${FIELD_MANAGER}&force=true`;
    return this.api.call('PATCH', path, { contentType: 'application/apply-patch+yaml', body: deployment });
  }

  async scale(name: string, replicas: number): Promise<DeploymentObject> {
    const path = `${this.deployments}/${name}?fieldManager=${FIELD_MANAGER}`;
    return this.api.call('PATCH', path, { contentType: 'application/merge-patch+json', body: { spec: { replicas } } });
  }

  /** Delete it and, in the background, its pods. */
  async deleteDeployment({ metadata: { name, uid } }: DeploymentObject): Promise<void> {
    await this.delete(`${this.deployments}/${name}`, { preconditions: { uid }, propagationPolicy: 'Background' });
  }

  async deletePod({ metadata: { name, uid } }: PodObject): Promise<void> {
    await this.delete(`${this.pods}/${name}`, { preconditions: { uid } });
  }

  /** Let its ReplicaSet choose this one first. */
  async markLeaving({ metadata: { name, uid, annotations } }: PodObject): Promise<void> {
    if (annotations?.[DELETION_COST] === COST_OF_LEAVING) return;
    const body = { metadata: { uid, annotations: { [DELETION_COST]: COST_OF_LEAVING } } };
    await this.api.call('PATCH', `${this.pods}/${name}`, { contentType: 'application/merge-patch+json', body });
  }

  private listing(path: string): string {
    return `${path}?labelSelector=${encodeURIComponent(this.selector)}`;
  }

  /** What is gone already is deleted; so is what has another uid by now (409), for it is another one. */
  private async delete(path: string, body: object): Promise<void> {
    try {
      await this.api.call('DELETE', path, { body });
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 409)) throw error;
    }
  }
}
