import { Injectable } from '@nestjs/common';
import { AuditLog, type Act, type Operator } from '@millrace/accounts';
import { ModelLibrary, ModelUploads, type Model, type Transact } from '@millrace/models';
import { openUrlOf } from './model.presenter';

/** What is done to models, by accounts and by operators. Every act is in the audit log. */
@Injectable()
export class ModelActs {
  constructor(
    private readonly audit: AuditLog,
    private readonly library: ModelLibrary,
    private readonly uploads: ModelUploads,
  ) {}

  /** Runs an act on a model in one transaction with its entry. */
  recorded(operator: Operator, verb: string): Transact {
    return (act) =>
      this.audit.record(operator, async (tx, note) => {
        const model = await act(tx);
        note(actOn(model, verb));
        return model;
      });
  }

  async remove(operator: Operator, accountId: string, id: string): Promise<void> {
    await this.uploads.drop(await this.library.delete(accountId, id, this.recorded(operator, 'delete')));
  }

  async share(operator: Operator, id: string, shared: boolean): Promise<Model> {
    return this.recorded(operator, shared ? 'share' : 'unshare')((tx) => this.library.share(tx, id, shared));
  }
}

function actOn({ id, accountId, folder, name, sourceUrl }: Model, verb: string): Act {
  const details = { folder, name, source_url: openUrlOf(sourceUrl) };
  return { action: `model.${verb}`, subjectType: 'model', subjectId: id, accountId, details };
}
