export {
  SCOPES,
  SURFACE_KINDS,
  ACCOUNT_STATUSES,
  DEPLOYMENT_STATES,
  type Scope,
  type SurfaceKind,
  type AccountStatus,
  type DeploymentState,
} from './access';
export { ACCOUNT_LIMITS, type AccountLimitField, type AccountLimitName } from './account-limits';
export {
  EXPIRES_IN_SECONDS,
  AssetSchema,
  ExpiresInSchema,
  AssetFromHashRequestSchema,
  AssetUploadFormSchema,
  ResumableUploadRequestSchema,
  ResumableUploadSchema,
  type Asset,
  type ResumableUploadRequest,
  type ResumableUploadView,
  type AssetFromHashRequest,
} from './asset';
export {
  ERROR_CATALOGUE,
  INVALID_REQUEST,
  INVALID_REQUEST_STATUSES,
  ERROR_CODES,
  ErrorEnvelopeSchema,
  Refusal,
  type ErrorCode,
  type FieldError,
  type ErrorEnvelope,
  type RefusalOptions,
} from './errors';
export {
  JOB_EVENTS,
  PreviewSchema,
  JobEventSchemas,
  LiveEventSchema,
  type JobEventName,
  type Preview,
  type LiveEvent,
} from './events';
export { BlobHashSchema, parseBlobHash } from './hash';
export { createdAtOf, newId, isUuid } from './ids';
export {
  JOB_STATUSES,
  TERMINAL_STATUSES,
  isTerminal,
  JobStatusSchema,
  JOB_ERROR_CODES,
  JobErrorSchema,
  ProgressSchema,
  JobUrlsSchema,
  JobLogsSchema,
  CapturedLogsSchema,
  METADATA_LIMITS,
  METADATA_KEY,
  faultOfMetadataValue,
  JobMetadataSchema,
  JobMetricsSchema,
  JobSchema,
  JobListItemSchema,
  JobPageSchema,
  type JobStatus,
  type TerminalStatus,
  type JobErrorCode,
  type JobError,
  type Progress,
  type JobUrls,
  type JobLogs,
  type CapturedLogs,
  type JobMetadata,
  type JobMetrics,
  type Job,
  type JobListItem,
  type JobPage,
} from './job';
export { NODE_STATES, JobWorkflowSchema, JobNodesSchema, type JobWorkflow, type JobNodes } from './job-views';
export { DispatchMessageSchema, ControlMessageSchema, type DispatchMessage, type ControlMessage } from './messages';
export {
  InputSpecSchema,
  OutputSpecSchema,
  NodeClassSchema,
  NodeCatalogueSchema,
  type InputSpec,
  type OutputSpec,
  type NodeClass,
  type NodeCatalogue,
} from './node-catalogue';
export { OUTPUT_TYPES, OutputSchema, type OutputType, type Output } from './output';
export {
  RESERVED_FIELDS,
  EXTRA_DATA_KEYS,
  ExtraDataSchema,
  JobSubmissionSchema,
  NODE_ERROR_REASONS,
  IDEMPOTENCY_KEY,
  IDEMPOTENT_OPERATIONS,
  type ExtraDataKey,
  type ExtraData,
  type NodeErrorReason,
  type NodeError,
  type NodeErrors,
  type IdempotentOperation,
} from './submission';
export { TimestampSchema } from './timestamps';
