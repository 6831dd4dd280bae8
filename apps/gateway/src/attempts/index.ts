export { GraphNames } from './graph-names';
export { AttemptsController } from './attempts.controller';
export { BytesController } from './bytes.controller';
export { HeldAttempts } from './held-attempts';
export { OutputReceipts } from './output-receipts';
export { ModelsController } from './models.controller';
export { DeploymentModelsController } from './deployment-models.controller';
