export {
  SCOPES,
  ACCOUNT_STATUSES,
  DEPLOYMENT_STATES,
  ERASURE_STATES,
  ERASURE_SUBJECTS,
  type ErasureState,
  type ErasureSubject,
  type ErasureSubjectKind,
  type Scope,
  type SurfaceKind,
  type AccountStatus,
  type DeploymentState,
} from './access';
export { ACCOUNT_LIMITS, type AccountLimitField, type AccountLimitName } from './limits/account-limits';
export {
  EXPIRES_IN_SECONDS,
  TAG_LIMITS,
  AssetSchema,
  AssetPageSchema,
  AssetFromHashRequestSchema,
  AssetUploadFormSchema,
  ResumableUploadRequestSchema,
  ResumableUploadSchema,
  type Asset,
  type AssetPage,
  type ResumableUploadView,
} from './asset';
export {
  BATCH_ADMISSIONS,
  BATCH_COLUMNS,
  BATCH_JOBS,
  BatchEventSchemas,
  BatchJobPageSchema,
  BatchPageSchema,
  BatchRetrySchema,
  BatchSchema,
  BatchSubmissionSchema,
  type BatchAdmission,
  type BatchEventName,
  type BatchFault,
  type BatchJobPage,
  type BatchJobView,
  type BatchPage,
  type BatchView,
  type RetriedStatus,
} from './batch';
export { DEPLOYMENT_LIMITS } from './limits/deployment-limits';
export { boundedList } from './bounded-list';
export { beginningOf, endOf, endsOf } from './bounded-text';
export { MEMBER_ROLES, isOwners, scopesOfRole, type MemberRole } from './members';
export { OPERATOR_ROLES, roleCovers, type OperatorRole } from './operators';
export { EstimateSchema, type Estimate } from './estimate';
export {
  ERROR_CATALOGUE,
  INVALID_REQUEST,
  INVALID_REQUEST_STATUSES,
  ERROR_CODES,
  ErrorEnvelopeSchema,
  type ErrorCode,
  type FieldError,
  type ErrorEnvelope,
} from './errors/errors';
export { Refusal, type RefusalOptions } from './errors/refusal';
export {
  JobEventSchemas,
  LiveEventSchema,
  PREVIEW_BYTES,
  STATUS_EVENT_OUTPUT_BYTES,
  type JobEventName,
  type LiveEvent,
  type Preview,
  type StatusEvent,
} from './events';
export {
  GATEWAY_HEADERS,
  GATEWAY_PATH,
  GATEWAY_POLL_MS,
  GATEWAY_PROTOCOL,
  GatewayCatalogueAnswerSchema,
  GatewayCatalogueSchema,
  GatewayClaimAnswerSchema,
  GatewayClaimSchema,
  type GatewayClaim,
  GatewayControlsSchema,
  GatewayCredentialsSchema,
  GatewayDoubtSchema,
  GatewayEndAnswerSchema,
  GatewayEndSchema,
  GatewayEventSchema,
  GatewayGraphSchema,
  GatewayHeartbeatAnswerSchema,
  GatewayHeartbeatSchema,
  GatewayInputSchema,
  GatewayLeftSchema,
  GatewayLogSchema,
  GatewayModelNamesSchema,
  GatewayModelPlaceSchema,
  GatewayModelsSchema,
  GatewayPoolModelsSchema,
  GatewayOfferSchema,
  GatewayOutputSchema,
  GatewayPartAnswerSchema,
  GatewayPartSchema,
  GatewayRecordedSchema,
  GatewayRegistrationSchema,
  GatewayReportAnswerSchema,
  GatewayReportSchema,
  GatewayStoredSchema,
  GatewayTermsSchema,
  GatewayUploadEndSchema,
  REPORT_TEXT_LENGTH,
  type GatewayAttempt,
  type GatewayEnd,
  type GatewayEvent,
  type GatewayHeartbeatAnswer,
  type GatewayOutput,
  type GatewayRegistration,
  type GatewayReport,
  type GatewayTerms,
} from './gateway/gateway';
export { BlobHashSchema, parseBlobHash } from './hash';
export { TimestampSchema, createdAtOf, lowestIdAt, newId, isUuid } from './ids';
export { JOB_ERROR_CATALOGUE } from './errors/job-errors';
export {
  JOB_STATUSES,
  TERMINAL_STATUSES,
  isTerminal,
  JobStatusSchema,
  JOB_ERROR_CODES,
  JobErrorSchema,
  ProgressSchema,
  CapturedLogsSchema,
  METADATA_LIMITS,
  METADATA_KEY,
  faultOfMetadataValue,
  JobMetadataSchema,
  JobSchema,
  JobListItemSchema,
  JobPageSchema,
  type JobStatus,
  type TerminalStatus,
  type JobErrorCode,
  type JobError,
  type Progress,
  type JobLogs,
  type CapturedLogs,
  type JobMetadata,
  type JobMetrics,
  type Job,
  type JobListItem,
  type JobPage,
} from './job';
export {
  JobAttemptsSchema,
  JobWorkflowSchema,
  JobNodesSchema,
  JobStandingSchema,
  type AttemptCharge,
  type AttemptOutcome,
  type JobAttempts,
  type JobNodes,
  type JobStanding,
  type WaitingReason,
} from './job-views';
export { DispatchMessageSchema, ControlMessageSchema, type DispatchMessage, type ControlMessage } from './messages';
export { type ModelFile, type ModelName, type ModelSource } from './models';
export {
  NodeCatalogueSchema,
  type InputSpec,
  type OutputSpec,
  type NodeClass,
  type NodeCatalogue,
} from './node-catalogue';
export { NodeClassesSchema, type NodeClasses, type NodeClassView, type NodeInputView } from './node-class-views';
export { OUTPUT_TYPES, OutputSchema, type OutputType, type Output } from './output';
export { REUSE_MODES, REUSE_OUTPUT_LIMIT, ReuseSchema, type Reuse } from './reuse';
export { RETRY_CODES, RETRY_LIMITS, RetryPolicySchema, type RetryCode, type RetryPolicy } from './retry-policy';
export {
  RESERVED_FIELDS,
  EXTRA_DATA_KEYS,
  EXTRA_DATA_LIMITS,
  COMFYUI_RUN_LIMITS,
  JobSubmissionSchema,
  NODE_ERROR_REASONS,
  GRAPH_NAME_LENGTH,
  MAX_GRAPH_NODES,
  runLimitsOf,
  IDEMPOTENCY_KEY,
  type ExtraData,
  type NodeErrorReason,
  type RunLimits,
  type NodeError,
  type NodeErrors,
  type IdempotentOperation,
} from './submission';
export { NO_SUBMISSION_DEFAULTS, SubmissionDefaultsSchema, type SubmissionDefaults } from './submission-defaults';
export { WEBHOOK_EVENTS, WEBHOOK_EVENT_SCOPES, type WebhookEvent } from './webhooks';
