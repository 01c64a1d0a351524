/**
 * The gateway's double: in memory for tests, or on a loopback port of your machine.
 */
export * as Fault from "./Fault.ts"
export type { FaultTarget, PlannedFault } from "./Fault.ts"
export * as Rehearsal from "./Rehearsal.ts"
export { RehearsalFailed } from "./RehearsalFailed.ts"
export type { RehearsalOptions, RehearsalRule } from "./RehearsalOptions.ts"
export type {
  RehearsalFinding,
  RehearsalReport,
  RehearsedRule,
  RuleName,
  ShortName,
  StoryLine,
  UndecidedSchedule
} from "./RehearsalReport.ts"
export type { RehearsalCall, RehearsalDebt, RehearsalEnd, RehearsalFact, RehearsalWorld } from "./RehearsalWorld.ts"
export { Sandbox } from "./Sandbox.ts"
export type { SandboxService } from "./internal/service.ts"
export { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
export { SandboxChange } from "./SandboxChange.ts"
export { SandboxConflict, SandboxNotFound, SandboxStateError, SandboxUnreachable } from "./SandboxError.ts"
export { SandboxOptions } from "./SandboxOptions.ts"
export { SandboxOverview } from "./SandboxOverview.ts"
export { SandboxRequest } from "./SandboxRequest.ts"
export { SandboxWebhook, type WebhookAttempt, type WebhookTarget } from "./SandboxWebhook.ts"
