/**
 * The gateway's double: in memory for tests, or on a loopback port of your machine.
 */
export * as Fault from "../sandbox/Fault.ts"
export type { FaultTarget, PlannedFault } from "../sandbox/Fault.ts"
export * as Rehearsal from "../rehearsal/Rehearsal.ts"
export type { RehearsalFailed } from "../rehearsal/RehearsalFailed.ts"
export type { RehearsalOptions, RehearsalRule } from "../rehearsal/RehearsalOptions.ts"
export type {
  RehearsalFinding,
  RehearsalReport,
  RehearsedRule,
  RuleName,
  ShortName,
  StoryLine,
  UndecidedSchedule
} from "../rehearsal/RehearsalReport.ts"
export type {
  RehearsalCall,
  RehearsalDebt,
  RehearsalEnd,
  RehearsalFact,
  RehearsalWorld
} from "../rehearsal/RehearsalWorld.ts"
export { Sandbox } from "./Sandbox.ts"
export type { SandboxService } from "../sandbox/SandboxService.ts"
export type { SandboxTransaction, SandboxWithdrawal } from "../sandbox/SandboxLedger.ts"
export type { SandboxChange } from "../sandbox/SandboxChange.ts"
export { SandboxConflict, SandboxNotFound, SandboxStateError, SandboxUnreachable } from "../sandbox/SandboxError.ts"
export { SandboxOptions } from "../sandbox/SandboxOptions.ts"
export type { SandboxOverview } from "../sandbox/SandboxOverview.ts"
export type { SandboxRequest } from "../sandbox/SandboxRequest.ts"
export type { SandboxWebhook, WebhookAttempt, WebhookTarget } from "../sandbox/SandboxWebhook.ts"
